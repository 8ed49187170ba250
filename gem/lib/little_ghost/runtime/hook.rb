# frozen_string_literal: true

module LittleGhost
  class Runtime
    # Lets an application take part in every run. A Runtime makes one instance of each class that
    # Configuration#runtime_hook names, in that order; calls may overlap. Override what you need.
    #
    #   class TenantHook < LittleGhost::Runtime::Hook
    #     def prepare_run(run)
    #       run.register(TenantConnection.new(run.invocation.actor_id))
    #       run
    #     end
    #   end
    class Hook
      # Text about a failure that may be shown to the caller, or nil to leave it to later hooks and the
      # library. Keep secrets and texts of exceptions out of it.
      def error_message(_error, _run)
      end

      # Prepares a run that has just begun, before its history is read and its agent is built.
      def prepare_execution(run)
        run
      end

      # Returns the payload of an interjection, a Hash, as it shall be delivered.
      def prepare_interjection(_run, payload)
        payload
      end

      # Prepares a new run. What is registered with it is closed with it. An exception is raised to the
      # caller, and there is no run.
      def prepare_run(run)
        run
      end

      # The Messages that precede the current one, or nil to leave it to later hooks and the session.
      # +stored+ is empty for a new session; +fallback+ is the request's own history.
      def session_history(_run, stored:, fallback:)
      end
    end
  end
end
