# frozen_string_literal: true

module LittleGhost
  module Support
    class InterruptibleStream
      # One run of a producer: its thread, its buffer, and a watch that closes the buffer when the work is
      # cancelled or late.
      class Work # :nodoc:
        # Seconds that a producer has to stop.
        PATIENCE = 1.0
        private_constant :PATIENCE

        def initialize(token, deadline, buffer_size, &producer)
          @buffer = Thread::SizedQueue.new(buffer_size)
          @failure = nil
          @ended = CancellationToken.new(parent: token)
          @watch = quiet { watch(deadline) }
          @thread = quiet { produce(producer) }
        end

        # The next value in an Array, or nil at the end.
        def take
          @buffer.pop
        end

        def raise_failure
          raise @failure if @failure
        end

        # Stops what still goes on.
        def stop
          @ended.cancel
          @buffer.close
          @thread.kill
          stopped = @thread.join(PATIENCE)
          @watch.join
          raise CleanupError, "the producer of a stream did not stop within #{PATIENCE} s" unless stopped
        end

        private

        def quiet(&work)
          Thread.new do
            Thread.current.report_on_exception = false
            work.call
          end
        end

        def watch(deadline)
          @ended.wait(deadline && [deadline - Time.now, 0].max)
          @buffer.close
        end

        def produce(producer)
          producer.call(->(value) { @buffer.push([value]) })
        rescue ClosedQueueError
          # Nobody reads any more.
        rescue Exception => error # rubocop:disable Lint/RescueException -- raised where the stream is read
          @failure = error
        ensure
          @buffer.close
        end
      end
    end
  end
end
