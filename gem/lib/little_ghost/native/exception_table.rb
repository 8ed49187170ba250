# frozen_string_literal: true

module LittleGhost
  module Native
    # The exceptions of one run, under the ids that the engine knows them by. An exception comes
    # back as the very object it was.
    class ExceptionTable # :nodoc:
      def initialize
        @kept = {}
        @built = {}
        @last_id = 0
        @lock = Mutex.new
      end

      # Keeps +exception+ and describes it for the engine: kind, class name, message and id.
      def keep(exception)
        id = @lock.synchronize { (@last_id += 1).tap { |number| @kept[number] = exception } }
        [*Failure.describe(exception), id]
      end

      # The exception for an error value of the engine; one object for equal values.
      def fetch(value)
        return if value.nil?

        id = value["host_id"]
        kept = id && @lock.synchronize { @kept[id] }
        kept || (@built[value] ||= Failure.build(value))
      end
    end
  end
end
