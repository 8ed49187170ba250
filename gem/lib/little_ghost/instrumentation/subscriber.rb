# frozen_string_literal: true

module LittleGhost
  module Instrumentation
    # Base class of telemetry backends: override what yours supports. Calls may overlap on threads and
    # fibers, and must not rely on which one it is.
    class Subscriber
      # Something happened. +name+ is a Symbol, +attributes+ a Hash of the subscriber's own.
      def emit(_name, _attributes)
      end

      # An operation ended; +attributes+ has +operation_id+, +parent_operation_id+ and +duration_ms+.
      def finish(_name, _attributes)
      end

      # Sends what is buffered within +timeout+ seconds.
      def flush(timeout: nil)
      end

      # Releases what the subscriber holds within +timeout+ seconds.
      def shutdown(timeout: nil)
      end

      # An operation began.
      def start(_name, _attributes)
      end

      # Fields that let downstream work join the trace, a Hash, or nil.
      def trace_context(**)
      end
    end
  end
end
