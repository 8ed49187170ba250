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

      ##
      # :method: execute_program
      # See Sandbox#execute_program. Programs start in the workspace's root, or in +cwd+ below it, with an empty environment.

      ##
      # :method: start_program
      # See Sandbox#start_program. Raises CapabilityError when +allow_subprocesses+ is false.
    end
  end
end
