# frozen_string_literal: true

module LittleGhost
  class Run
    # How a run shows in telemetry.
    module Telemetry # :nodoc:
      private

      # What every notification within the run carries.
      def correlation
        {
          run_id: invocation.run_id.to_s, invocation_id: invocation.invocation_id.to_s, session_id: invocation.session_id.to_s,
          service_name: runtime.settings[:service_name].to_s, agent_id: entrypoint_class.assembly_id
        }
      end
    end
  end
end
