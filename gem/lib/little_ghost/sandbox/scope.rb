# frozen_string_literal: true

module LittleGhost
  class Sandbox
    # A view of a sandbox with less authority, for one agent or one set of tools. It owns nothing. Who still holds the
    # sandbox itself keeps all of its authority.
    #
    #   reviewer = sandbox.scope(files: {source: :read_only}, runtime_paths: [], network: false)
    #   reviewer.writable? # => false
    class Scope
      include Files

      # Operations that are left, a Capabilities.
      attr_reader :capabilities
      # What is left of the network, a NetworkPolicy.
      attr_reader :network
      # The sandbox that enforces it.
      attr_reader :sandbox
      # Paths that are left to tools and child processes, with their access.
      attr_reader :files
      # Paths that are left to child processes only.
      attr_reader :runtime_paths
      attr_reader :engine # :nodoc:

      # What is not given stays as it is. Paths are names, which keep their access, or a Hash of names and access.
      # Raises CapabilityError for what the sandbox, or +parent_scope+, does not have.
      def initialize(sandbox:, files: nil, runtime_paths: nil, capabilities: nil, network: nil, parent_scope: nil)
        @sandbox = sandbox
        parent = parent_scope || sandbox
        @engine = parent.engine.scope(
          {"files" => files, "runtime_paths" => runtime_paths, "capabilities" => capabilities, "network" => reach(network)}
        )
        info = @engine.info
        left = info.fetch("narrowing")
        @files = Declared.paths(left["files"])
        @runtime_paths = Declared.paths(left["runtime_paths"])
        @capabilities = parent.capabilities.intersect(Capabilities.build(info["capabilities"]))
        @network = own_engine? ? network_of(left["network"], parent) : network_beside(network, parent)
      end

      # The policy that the sandbox enforces.
      def effective_policy
        sandbox.effective_policy
      end

      # The same as #effective_policy.
      def policy
        effective_policy
      end

      # Bounds of the sandbox.
      def limits
        sandbox.limits
      end

      # The sandbox's workspace.
      def workspace
        sandbox.workspace
      end

      # Opens nothing.
      def open(run: nil)
        self
      end

      # Closes nothing.
      def close
      end

      # Whether +feature+ is left; of +:network+, whether the mode +value+ is.
      def supports?(feature, value = nil)
        return network.nil? || network.mode == value.to_sym || value.to_sym == :none if feature.to_sym == :network && !value.nil?

        capabilities.supports?(feature, value)
      end

      # Runs a line of shell, see Sandbox#execute.
      def execute(command, **options)
        execute_program(["/bin/sh", "-c", command], **options)
      end

      # Runs a program to its end, see Sandbox#execute_program.
      def execute_program(command, **options)
        sandbox.execute_program(command, **narrowed(options))
      end

      # Starts a program, see Sandbox#start_program.
      def start_program(command, **options)
        sandbox.start_program(command, **narrowed(options))
      end

      # A scope that leaves even less.
      def scope(profile = nil, **options)
        options = sandbox.profile(profile, options) if profile
        Scope.new(sandbox: sandbox, parent_scope: self, **options)
      end

      # Whether the engine starts the programs.
      def own_engine? = sandbox.own_engine? # :nodoc:

      # Raises ToolError when a directory of the workspace is no longer the one that it was. Returns +self+.
      def validate!
        workspace.validate!
        self
      end

      private

      def narrowed(options)
        require_feature(:process_execute)
        unless capabilities.supports?(:process_spawn)
          require_feature(:process_spawn) if options[:allow_subprocesses]
          options = options.merge(allow_subprocesses: false)
        end
        options.merge(scope: options[:scope] || self)
      end

      def require_feature(feature)
        raise ToolError, "This part of the sandbox does not offer #{feature}." unless capabilities.supports?(feature)
      end

      # As the engine reads it; true keeps the network.
      def reach(network)
        case network
        when nil, true, false then network
        else Declared.written(NetworkPolicy.coerce(network))
        end
      end

      def network_beside(network, parent)
        (network.nil? || network == true) ? reach_of(parent) : NetworkPolicy.coerce(network || :none)
      end

      def reach_of(parent)
        parent.is_a?(Scope) ? parent.network : parent.effective_policy.network
      end

      def network_of(left, parent)
        return if left.nil?

        own = reach_of(parent)
        (own && own.declaration == left) ? own : NetworkPolicy.coerce((left["mode"] == "allowlist") ? left.compact : left["mode"])
      end
    end
  end
end
