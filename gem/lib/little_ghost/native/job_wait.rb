# frozen_string_literal: true

module LittleGhost
  module Native
    # Waits for work of the engine outside a run, without the GVL and for a Fiber scheduler like any IO.
    module JobWait # :nodoc:
      def self.answer(job)
        IO.for_fd(job.fd, autoclose: false).wait_readable
        job.take
      end
    end
  end
end
