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

      # See Sandbox#start_program. The program may start others only with +allow_subprocesses+, where the policy has that.
      def start_program(command, allow_subprocesses: false, **options)
        super
      end
    end
  end
end
