# frozen_string_literal: true

module LittleGhost
  class Sandbox
    # What contains child processes by means of the operating system, and refuses what it cannot enforce.
    class IsolatedBackend < Sandbox
      include OwnEngine

      # See Sandbox#execute_program. Programs start in the workspace's root, or in +cwd+ below it.
      def execute_program(command, timeout:, context: nil, max_output_bytes: nil, environment: {}, inherit_environment: false,
        scope: nil, cwd: nil, allow_subprocesses: nil)
        run_program(
          command, timeout, context, max_output_bytes, scope, environment: environment,
          inherit_environment: inherit_environment, cwd: cwd, allow_subprocesses: allow_subprocesses
        )
      end

      # Whether a kind of these can be used here.
      def self.probe_engine(kind, options) # :nodoc:
        probed = Native::JobWait.finish(Native::Sandbox.probe(kind, options.compact.transform_keys(&:to_s)))
        {available: probed["available"], reason: probed["reason"], capabilities: Capabilities.build(probed["capabilities"])}
      rescue DependencyError => error
        {available: false, reason: error.message, capabilities: Capabilities.new(features: [], network_modes: [])}
      end
      private_class_method :probe_engine
    end
  end
end
