# frozen_string_literal: true

module LittleGhost
  class Runtime
    # Tells events and instrumentation how a Runtime comes up, phase by phase.
    class Startup # :nodoc:
      EVENT = "little_ghost.runtime.startup"
      private_constant :EVENT

      def self.measure(service_name)
        startup = new(service_name)
        yield startup
        startup.complete
        ready = true
      ensure
        # Also when the thread is unwound: an operation must not stay open.
        startup&.failed($!) unless ready
      end

      def initialize(service_name)
        @service_name = service_name.to_s
        @phase = "configuration"
        @started_at = now
        @handle = nil
        emit(:info, status: "starting")
      end

      # The configuration file may have named the service.
      def named(service_name)
        @service_name = service_name.to_s
      end

      def phase(name)
        @phase = name
        # Subscribers of this runtime exist from here on.
        if name == "loader" && Instrumentation.listening?
          @handle ||= Instrumentation.start(:runtime, service_name: @service_name, startup_phase: name)
        end
        yield
      end

      def complete
        @phase = "complete"
        @handle&.finish(outcome: "ready", startup_phase: @phase)
        emit(:info, status: "ready", duration_ms: elapsed)
      end

      def failed(error)
        type = error.nil? ? "UncaughtThrowError" : error.class.name || error.class.superclass.name
        @handle&.finish(outcome: "failed", startup_phase: @phase, error_type: type)
        emit(:error, status: "failed", duration_ms: elapsed, error_type: type)
      end

      private

      def emit(level, **payload)
        Events.public_send(level, EVENT, phase: @phase, service_name: @service_name, **payload)
      end

      def elapsed
        ((now - @started_at) * 1_000).round(3)
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end
    end
  end
end
