# frozen_string_literal: true

module LittleGhost
  # The complete result of one invocation: the final assistant +message+ (or nil), a
  # +stop_reason+ Symbol, the +usage+, all +messages+ of the conversation with the system message
  # first, the application's +state+, a +structured_result+ (or nil), coordination +steps+, and the
  # +cost+ of the usage (a Rational of US dollars, or nil when it is not known; see Run#cost).
  class RunResult < Data.define(:message, :stop_reason, :usage, :messages, :state, :structured_result, :steps, :cost)
    def initialize(message:, stop_reason:, usage:, messages:, state:, structured_result: nil, steps: [], cost: nil)
      super(
        message: message,
        stop_reason: stop_reason,
        usage: usage,
        messages: messages.frozen? ? messages : messages.dup.freeze,
        state: state,
        structured_result: structured_result,
        steps: steps.frozen? ? steps : steps.dup.freeze,
        cost: cost
      )
    end

    # The structured value when there is one, else the text.
    def output
      structured? ? structured_result.value : text
    end

    # Whether the invocation produced a validated structured value.
    def structured?
      !structured_result.nil?
    end

    # Questions about the steps; an Assembly::Trajectory.
    def trajectory
      Assembly::Trajectory.new(steps)
    end

    # Text of the final message, or "".
    def text
      message.nil? ? "" : message.text
    end
  end
end
