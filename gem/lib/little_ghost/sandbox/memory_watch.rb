# frozen_string_literal: true

module LittleGhost
  class Sandbox
    # Ends a process whose memory, as the application counts it, exceeds a limit.
    class MemoryWatch # :nodoc:
      INTERVAL = 0.1
      PATIENCE = 3
      private_constant :INTERVAL, :PATIENCE

      def initialize(session, limit, reader)
        @session = session
        @limit = limit
        @reader = reader
        @stop = Thread::Queue.new
        @problem = nil
        @failures = 0
        @thread = Thread.new { watch }
      end

      # Raises why the process was ended.
      def check
        raise @problem if @problem
      end

      def stop
        @stop.close
        @thread.join unless @thread.equal?(Thread.current)
      end

      private

      def watch
        until @problem || @stop.closed?
          @stop.pop(timeout: INTERVAL)
          sample unless @stop.closed?
        end
        @session.terminate if @problem
      end

      def sample
        bytes = @reader.call(@session.pid)
        @failures = 0
        @problem = ToolError.new("The process was ended because it used more than #{@limit} bytes of memory.") if bytes && bytes > @limit
      rescue StandardError
        @failures += 1
        @problem = ToolError.new("The process was ended because its memory could not be watched.") if @failures >= PATIENCE
      end
    end
  end
end
