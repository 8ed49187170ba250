# frozen_string_literal: true

module LittleGhost
  class Run
    # What tools returned, until their callbacks have seen it: the engine knows only the text. Tools may
    # overlap.
    class ToolValues # :nodoc:
      def initialize
        @values = {}
        @lock = Mutex.new
      end

      def keep(tool_use_id, value, artifacts)
        @lock.synchronize { @values[tool_use_id] = [value, artifacts] }
      end

      # The value and the artifacts of a call, once; nil for one that failed.
      def delete(tool_use_id)
        @lock.synchronize { @values.delete(tool_use_id) }
      end
    end
  end
end
