# frozen_string_literal: true

module LittleGhost
  module Sandboxes
    # Runs programs on the host with all of this process's authority, for work that one would do there anyway.
    #
    #   sandbox = LittleGhost::Sandboxes::Unrestricted.new(workspace: LittleGhost::Workspace.new(root: Dir.pwd).open)
    #   sandbox.read("README.md").lines.first # => "# LittleGhost\n"
    #
    # File operations stay within the policy, and output is bounded. It is no security boundary.
    class Unrestricted < Sandbox
      include OwnEngine

      # Raises CapabilityError for a network policy, which it cannot enforce.
      def initialize(workspace:, policy: nil, profiles: {}, limits: {})
        super
        build_engine("unrestricted")
      end

      # See Sandbox#execute_program. Programs start in the workspace's root, with an empty environment.
      def execute_program(command, timeout:, context: nil, max_output_bytes: nil, environment: {}, inherit_environment: false,
        scope: nil, cwd: nil, allow_subprocesses: nil)
        run_program(
          command, timeout, context, max_output_bytes, scope, environment: environment,
          inherit_environment: inherit_environment, cwd: cwd, allow_subprocesses: allow_subprocesses
        )
      end

      # See Sandbox#start_program. Raises CapabilityError when +allow_subprocesses+ is false.
      def start_program(command, context: nil, environment: {}, inherit_environment: false, scope: nil, cwd: nil,
        output_bytes: nil, memory_bytes: nil, cpu_seconds: nil, file_bytes: nil, allow_subprocesses: true)
        begin_program(
          command, context, scope, environment: environment, inherit_environment: inherit_environment, cwd: cwd,
          output_bytes: output_bytes, memory_bytes: memory_bytes, cpu_seconds: cpu_seconds, file_bytes: file_bytes,
          allow_subprocesses: allow_subprocesses
        )
      end
    end
  end
end
