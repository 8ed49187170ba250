# frozen_string_literal: true

module LittleGhost
  class Execution
    # How far an execution is, for those who wait for it. Its work and the interjections that are on their way end
    # independently.
    class Progress # :nodoc:
      def initialize
        @lock = Mutex.new
        @changed = ConditionVariable.new
        @work = :pending
        @interjections = 0
        @closed = false
      end

      def run
        @lock.synchronize { @work = :running }
      end

      def finish
        change { @work = :finished }
      end

      # From now on there are no new interjections.
      def close
        @lock.synchronize { @closed = true }
      end

      def interjecting
        @lock.synchronize do
          raise AgentInterjectionError, "the execution is closing; it takes no more interjections" if @closed

          @interjections += 1
        end
        begin
          yield
        ensure
          change { @interjections -= 1 }
        end
      end

      def state
        @lock.synchronize { current }
      end

      # Waits for the end or for +deadline+, a Time or nil.
      def wait(deadline)
        @lock.synchronize do
          until current == :finished
            rest = deadline && deadline - Time.now
            break if rest && rest <= 0

            @changed.wait(@lock, rest)
          end
        end
      end

      private

      def change
        @lock.synchronize do
          yield
          @changed.broadcast
        end
      end

      def current
        @work == :finished && @interjections.positive? ? :running : @work
      end
    end
  end
end
