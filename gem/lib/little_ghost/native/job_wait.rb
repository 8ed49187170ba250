# frozen_string_literal: true

module LittleGhost
  module Native
    # Waits for work of the engine outside a run, without the GVL and for a Fiber scheduler like any IO.
    module JobWait # :nodoc:
      class << self
        def answer(job)
          IO.for_fd(job.fd, autoclose: false).wait_readable
          job.take
        end

        # The answer of +job+, which ends with +context+, a RunContext. Whatever makes the caller leave earlier gives the work up.
        def finish(job, context = nil)
          job.within(context.cancellation_token&.native, context.deadline&.to_f) if context
          IO.for_fd(job.fd, autoclose: false).wait_readable
          answer, error = job.outcome
          raise Failure.build(error) if error

          answer
        ensure
          job.give_up
        end
      end
    end
  end
end
