# frozen_string_literal: true

module LittleGhost
  # A Run in the background, on a scheduled fiber or a thread of its own.
  #
  #   execution = SupportAgent.new.start_execution(message: "Investigate transfer 481") do |event|
  #     event_buffer << event
  #   end
  #   execution.interject(message: "Include the latest ledger entry")
  #   execution.wait(deadline: Time.now + 30)
  #   execution.run.completed? # => true
  class Execution
    autoload :Progress, "little_ghost/execution/progress"

    OPTIONS = %i[interjection_id batch_key metadata cancellation_token deadline].freeze
    private_constant :OPTIONS

    # The supervised Run.
    attr_reader :run
    # The exception of the event consumer or of a closer, or nil.
    attr_reader :error

    # Starts +run+ at once. When the work cannot start, the run is closed and the exception raised.
    def self.start(run, &event_consumer)
      new(run).tap { |execution| execution.start(&event_consumer) }
    end

    def initialize(run) # :nodoc:
      @run = run
      @error = nil
      @progress = Progress.new
    end

    def start(&event_consumer) # :nodoc:
      Native::Concurrency.start(run.runtime.concurrency_backend) { supervise(event_consumer) }
    rescue StandardError
      @progress.finish
      run.close
      raise
    end

    # +:pending+, +:running+ or +:finished+.
    def state
      @progress.state
    end

    # Whether the run or an interjection goes on.
    def active? = !finished?

    # Whether the run and all interjections are over.
    def finished? = state == :finished

    # Asks the run to stop and returns +self+.
    def cancel
      run.cancellation_token.cancel
      self
    end

    # Takes no more interjections, asks the run to stop and waits for it, as #wait does.
    def close(deadline: nil)
      @progress.close
      cancel
      wait(deadline: deadline)
    end

    # Says something to the agent at work; see Run#interject. +payload+ is a message, or a Hash with +message+ and the
    # options of Run#interject; hooks see the Hash first and may change it. Raises AgentInterjectionError after #close.
    def interject(payload = nil, **options)
      @progress.interjecting do
        prepared = run.runtime.runtime_hooks.prepare_interjection(run, interjection(payload, options))
        prepared = prepared.transform_keys(&:to_sym)
        run.interject(prepared.fetch(:message), **prepared.slice(*OPTIONS).compact)
      end
    end

    # Waits for the end of the run and of interjections, and returns the Run. Raises DeadlineExceededError when
    # +deadline+, a Time, comes first, which leaves the run going; raises the exception of the consumer or of a
    # closer, and Error from inside the run, which would wait for itself.
    def wait(deadline: nil)
      raise ArgumentError, "deadline must be a Time, got #{deadline.class}" unless deadline.nil? || deadline.is_a?(Time)
      raise Error, "this is the consumer or a tool of the execution's own run, which would wait for itself" if Run::Nesting.include?(run)

      @progress.wait(deadline)
      raise DeadlineExceededError, "the execution is still running at the deadline" unless finished?
      raise error if error

      run
    end

    # Names the run and the state.
    def inspect
      "#<#{self.class} #{state} #{run.operation_id}>"
    end

    private

    def interjection(payload, options)
      hash = payload.is_a?(Hash) && (payload.key?(:message) || payload.key?("message"))
      merged = hash ? payload.transform_keys(&:to_sym).merge(options) : {message: payload, **options}
      return merged unless merged[:message].nil?

      raise ArgumentError, "an interjection needs a message"
    end

    def supervise(event_consumer)
      @progress.run
      event_consumer ? run.each(&event_consumer) : run.call
    rescue Exception => error # rubocop:disable Lint/RescueException -- kept for whoever waits
      @error = error
    ensure
      @progress.finish
    end
  end
end
