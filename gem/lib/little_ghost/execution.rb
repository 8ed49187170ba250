# frozen_string_literal: true

module LittleGhost
  # A Run in the background, on a scheduled fiber or a thread of its own.
  #
  #   execution = SupportAgent.new.start_execution(message: "Investigate transfer 481") do |event|
  #     event_buffer << event
  #   end
  #   execution.wait(deadline: Time.now + 30)
  #   execution.run.completed? # => true
  class Execution
    # The supervised Run.
    attr_reader :run
    # The exception of the event consumer or of a closer, or nil.
    attr_reader :error
    # +:pending+, +:running+ or +:finished+.
    attr_reader :state

    # Starts +run+ at once. When the work cannot start, the run is closed and the exception raised.
    def self.start(run, &event_consumer)
      new(run).tap { |execution| execution.start(&event_consumer) }
    end

    def initialize(run) # :nodoc:
      @run = run
      @state = :pending
      @error = nil
      @finished = Thread::Queue.new
    end

    def start(&event_consumer) # :nodoc:
      Native::Concurrency.start(run.runtime.concurrency_backend) { supervise(event_consumer) }
    rescue StandardError
      @state = :finished
      @finished.close
      run.close
      raise
    end

    # Whether the work goes on.
    def active? = !finished?

    # Whether the work is over.
    def finished? = state == :finished

    # Asks the run to stop and returns +self+.
    def cancel
      run.cancellation_token.cancel
      self
    end

    # Asks the run to stop and waits for it, as #wait does.
    def close(deadline: nil)
      cancel
      wait(deadline: deadline)
    end

    # Waits for the end and returns the Run. Raises DeadlineExceededError when +deadline+, a Time,
    # comes first, which leaves the run going; raises the exception of the consumer or of a closer.
    def wait(deadline: nil)
      @finished.pop(timeout: deadline && [deadline - Time.now, 0].max)
      raise DeadlineExceededError, "the execution is still running at the deadline" unless finished?
      raise error if error

      run
    end

    # Names the run and the state.
    def inspect
      "#<#{self.class} #{state} #{run.operation_id}>"
    end

    private

    def supervise(event_consumer)
      @state = :running
      event_consumer ? run.each(&event_consumer) : run.call
    rescue Exception => error # rubocop:disable Lint/RescueException -- kept for whoever waits
      @error = error
    ensure
      @state = :finished
      @finished.close
    end
  end
end
