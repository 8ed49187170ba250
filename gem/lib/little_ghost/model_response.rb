# frozen_string_literal: true

module LittleGhost
  # The final result of one model call: the assistant +message+, a +stop_reason+ Symbol, the +usage+
  # of this call, and +metadata+ such as the provider's +:id+ and +:model+.
  class ModelResponse < Data.define(:message, :stop_reason, :usage, :metadata)
    def initialize(message:, stop_reason:, usage: Usage.new, metadata: {})
      unless stop_reason.respond_to?(:to_sym)
        raise ArgumentError, "stop_reason must be a Symbol such as :end_turn, got #{stop_reason.class}"
      end

      super(
        message: Message.coerce(message),
        stop_reason: stop_reason.to_sym,
        usage: usage,
        metadata: metadata.frozen? ? metadata : metadata.dup.freeze
      )
    end
  end
end
