# frozen_string_literal: true

module LittleGhost
  module Sandboxes
    # Runs programs under a Seatbelt profile of macOS that denies what the policy does not open. Paths are the same
    # inside and outside, and what a program started and moved to another process group outlives it.
    class Seatbelt < Sandbox::IsolatedBackend
      # What macOS brings.
      DEFAULT_EXECUTABLE = "/usr/bin/sandbox-exec"

      # What it can do before a policy narrows it.
      def self.backend_capabilities
        probe_engine("seatbelt", {}).fetch(:capabilities)
      end

      # Whether it can be used on +platform+: <tt>{available:, reason:, capabilities:}</tt>.
      def self.probe(executable: DEFAULT_EXECUTABLE, platform: RUBY_PLATFORM)
        probe_engine("seatbelt", {executable: executable, platform: platform})
      end

      # Raises CapabilityError for an allowlist, which it cannot enforce.
      def initialize(workspace:, policy: nil, profiles: {}, limits: {}, executable: DEFAULT_EXECUTABLE, platform: RUBY_PLATFORM)
        super(workspace: workspace, policy: policy, profiles: profiles, limits: limits)
        build_engine("seatbelt", executable: executable, platform: platform)
      end

      # See Sandbox#start_program.
      def start_program(command, context: nil, environment: {}, inherit_environment: false, scope: nil, cwd: nil,
        output_bytes: nil, memory_bytes: nil, cpu_seconds: nil, file_bytes: nil, allow_subprocesses: false)
        begin_program(
          command, context, scope, environment: environment, inherit_environment: inherit_environment, cwd: cwd,
          output_bytes: output_bytes, memory_bytes: memory_bytes, cpu_seconds: cpu_seconds, file_bytes: file_bytes,
          allow_subprocesses: allow_subprocesses
        )
      end
    end
  end
end
