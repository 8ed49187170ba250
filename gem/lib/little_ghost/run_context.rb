# frozen_string_literal: true

module LittleGhost
  # Shared state, cancellation, deadline and usage for the work inside one run. Tools reach it
  # as +context+.
  #
  # +state+ is a live DataMap: what one tool writes, the next one reads. Synchronize changes when
  # parallel tools share it, or declare the tools exclusive.
  class RunContext
    # Token that asks the current work to stop.
    attr_reader :cancellation_token
    # Identifier of the durable conversation, or nil.
    attr_reader :conversation_id
    # When the work must end, as a Time, or nil.
    attr_reader :deadline
    # Framework metadata.
    attr_reader :metadata
    # The shared DataMap.
    attr_reader :state
    # Identifier of the agent's operation, or nil outside an agent.
    attr_reader :agent_operation_id
    # The latest validated structured result, or nil.
    attr_reader :structured_result

    def initialize(state: {}, cancellation_token: Support::CancellationToken.new, deadline: nil, metadata: {},
      checkpoint: nil, conversation_id: nil, interjection_metadata: nil, interjection_ids: [])
      @state = DataMap.coerce(state)
      @cancellation_token = cancellation_token
      @deadline = deadline
      @metadata = metadata
      @checkpoint = checkpoint
      @conversation_id = conversation_id
      @interjection_metadata = interjection_metadata
      @interjection_ids = interjection_ids
      @agent_operation_id = @structured_result = @run = nil
      @ledger = Ledger.new
    end

    # Raises CancelledError or DeadlineExceededError when the work should stop.
    def check!
      cancellation_token.raise_if_cancelled!
      raise DeadlineExceededError, "the deadline passed" if deadline && Time.now >= deadline
    end

    # Gives +messages+ and the current state to the checkpoint callback. Without one, nil.
    def checkpoint(messages)
      @checkpoint&.call(messages, state)
    end

    # Adds +value+, a Usage, to the accumulated usage.
    def record_usage(value)
      @ledger.add(value)
    end

    # A snapshot of the accumulated Usage.
    def usage
      @run ? @ledger.total + @run.usage_so_far : @ledger.total
    end

    # Seconds until the deadline, never below zero and at most +maximum+. Without a deadline, +maximum+.
    def remaining_time(maximum = nil)
      return maximum if deadline.nil?

      remaining = [deadline - Time.now, 0.0].max
      maximum.nil? ? remaining : [remaining, maximum].min
    end

    # Keeps a validated StructuredResult and returns it.
    def submit_structured_result(result)
      @structured_result = result
    end

    # This context for one piece of work of +run+: same state and usage, other token. Its usage is the run's.
    def bind(run:, cancellation_token:, agent_operation_id:) # :nodoc:
      dup.tap do |context|
        context.instance_variable_set(:@run, run)
        context.instance_variable_set(:@cancellation_token, cancellation_token)
        context.instance_variable_set(:@agent_operation_id, agent_operation_id)
      end
    end

    # Token counts that overlapping calls add to.
    class Ledger # :nodoc:
      def initialize
        @total = Usage.new
        @lock = Mutex.new
      end

      def add(usage)
        @lock.synchronize { @total += usage }
      end

      def total
        @lock.synchronize { @total }
      end
    end
    private_constant :Ledger
  end
end
