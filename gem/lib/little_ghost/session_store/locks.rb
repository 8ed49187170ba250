# frozen_string_literal: true

module LittleGhost
  class SessionStore
    # A lock for each conversation that somebody works on, and none for others.
    class Locks # :nodoc:
      Entry = Struct.new(:lock, :users)
      private_constant :Entry

      def initialize
        @entries = {}
        @lock = Mutex.new
      end

      # Yields when nobody else does for +key+. Under a Fiber scheduler only the fiber waits.
      def synchronize(key)
        entry = enter(key)
        begin
          entry.lock.synchronize { return yield }
        rescue ThreadError
          raise unless entry.lock.owned?

          raise Error, "this thread or fiber works on the session already; synchronize is not re-entrant"
        ensure
          leave(key, entry)
        end
      end

      private

      def enter(key)
        @lock.synchronize do
          (@entries[key] ||= Entry.new(Mutex.new, 0)).tap { |entry| entry.users += 1 }
        end
      end

      def leave(key, entry)
        @lock.synchronize do
          entry.users -= 1
          @entries.delete(key) if entry.users.zero? && @entries[key].equal?(entry)
        end
      end
    end
  end
end
