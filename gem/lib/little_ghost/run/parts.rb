# frozen_string_literal: true

module LittleGhost
  class Run
    # The participants of the assembly that answers a run, each in its own part of it, by the engine's numbers.
    class Parts # :nodoc:
      # What the assembly's description names, a Native::Participants.
      attr_reader :table

      def initialize(run)
        @run = run
        @table = Native::Participants.new(run)
        @open = {}
        @states = {}
        @callbacks = {}
        @lock = Mutex.new
      end

      # Begins a part.
      def open(payload)
        part = Part.new(@run, table.fetch(payload["participant"]), payload)
        @lock.synchronize do
          @open[part.scope] = part
          # Results tell of it after the part is over.
          @states[part.scope] = part.shared_state
        end
        part
      end

      def fetch(scope)
        @lock.synchronize { @open[scope] } || raise(Error, "the engine asked for a participant that is done")
      end

      # The state of a part at work.
      def live_state(scope)
        fetch(scope).shared_state.to_h
      end

      # Ends a part, if it began.
      def close(scope)
        forget(scope)&.close
      end

      # Ends a part that has nothing to close, and returns it.
      def forget(scope)
        @lock.synchronize do
          @callbacks.delete(scope)
          @open.delete(scope)
        end
      end

      # The state that the part +scope+ ended with; nil for one that is not known.
      def state(scope)
        @lock.synchronize { @states[scope] }
      end

      # What runs the callbacks of the part +scope+.
      def callbacks(scope, exceptions)
        @callbacks[scope] ||= Native::CallbackCalls.new(fetch(scope), exceptions)
      end
    end
  end
end
