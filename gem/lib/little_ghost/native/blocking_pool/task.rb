# frozen_string_literal: true

module LittleGhost
  module Native
    module BlockingPool
      # One call. Until a thread takes it, its caller may withdraw it; from then on the caller waits.
      class Task # :nodoc:
        def initialize(block)
          @block = block
          @state = ExecutionState.capture
          @lock = Mutex.new
          @taken = @withdrawn = false
          @done = Thread::Queue.new
          @value = @error = nil
        end

        def perform
          return unless @lock.synchronize { @withdrawn ? false : (@taken = true) }

          begin
            @value = ExecutionState.with(@state, &@block)
          rescue Exception => error # rubocop:disable Lint/RescueException -- it is the caller's
            @error = error
          ensure
            @done.close
          end
        end

        # The block's value, or its exception. An interruption is raised when the block has finished.
        def wait
          interruption = nil
          begin
            @done.pop
          rescue Exception => error # rubocop:disable Lint/RescueException -- raised below
            raise if withdraw

            interruption ||= error
            retry
          end
          raise interruption if interruption
          raise @error if @error

          @value
        end

        private

        def withdraw
          @lock.synchronize { @taken ? false : (@withdrawn = true) }
        end
      end
    end
  end
end
