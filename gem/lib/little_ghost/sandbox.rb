# frozen_string_literal: true

module LittleGhost
  # Governs the file operations and child processes that go through it. The tools Filesystem and Shell and the programs of
  # code mode do; other tools are code of the application and only do when they use their +sandbox+.
  #
  #   LittleGhost.configure do |config|
  #     config.sandbox = {provider: :native, files: {root: :read_write}, network: :none}
  #   end
  #
  # A sandbox of your own is a subclass that starts programs, and says what it enforces:
  #
  #   class ContainerSandbox < LittleGhost::Sandbox
  #     def capabilities
  #       Capabilities.new(isolation: :container, network_modes: [:none])
  #     end
  #
  #     def start_program(command, environment: {}, output_bytes: limits.output_bytes, **)
  #       ProcessSession.new(command: ["/usr/local/bin/contain", workspace.root, *command], environment: environment,
  #         output_bytes: output_bytes)
  #     end
  #   end
  #
  # File operations stay within the policy, and each part of a path is opened without following links.
  class Sandbox
    autoload :Capabilities, "little_ghost/sandbox/capabilities"
    autoload :Declared, "little_ghost/sandbox/declared"
    autoload :EnvironmentPolicy, "little_ghost/sandbox/environment_policy"
    autoload :Execution, "little_ghost/sandbox/execution"
    autoload :Files, "little_ghost/sandbox/files"
    autoload :IsolatedBackend, "little_ghost/sandbox/isolated_backend"
    autoload :Limits, "little_ghost/sandbox/limits"
    autoload :MemoryWatch, "little_ghost/sandbox/memory_watch"
    autoload :NetworkPolicy, "little_ghost/sandbox/network_policy"
    autoload :OwnEngine, "little_ghost/sandbox/own_engine"
    autoload :Policy, "little_ghost/sandbox/policy"
    autoload :ProcessSession, "little_ghost/sandbox/process_session"
    autoload :Programs, "little_ghost/sandbox/programs"
    autoload :Providers, "little_ghost/sandbox/providers"
    autoload :Scope, "little_ghost/sandbox/scope"

    include Files
    extend Providers

    # Bounds of file operations and output, a Limits.
    attr_reader :limits
    # What was asked for, a Policy.
    attr_reader :policy
    # The Workspace whose files and processes it governs.
    attr_reader :workspace

    # +policy+ is a Policy or a Hash, +limits+ a Limits or a Hash. +profiles+ are named scopes: each a Hash of the options of
    # #scope, or a callable that makes one and takes +workspace:+ and +policy:+. Raises PolicyError for a path that
    # the workspace does not have.
    def initialize(workspace:, policy: nil, profiles: {}, limits: {})
      raise ArgumentError, "a sandbox needs a LittleGhost::Workspace, got #{workspace.class}" unless workspace.is_a?(Workspace)

      @workspace = workspace
      @policy = Policy.coerce(policy)
      @profiles = profiles.to_h.transform_keys(&:to_sym).freeze
      @limits = Limits.coerce(limits)
    end

    # What the sandbox can do. A subclass that starts programs offers to run them.
    def capabilities
      features = %i[filesystem_read filesystem_list]
      features += %i[filesystem_write filesystem_replace] if effective_policy.files.value?(:read_write)
      features += %i[process_execute process_spawn] if method(:start_program).owner != Sandbox
      Capabilities.new(features: features)
    end

    # What the sandbox enforces. A sandbox refuses what it cannot enforce, rather than claiming it.
    def effective_policy
      policy
    end

    # Makes the sandbox ready and returns it. The workspace is open.
    def open(run: nil)
      self
    end

    # Releases what the sandbox holds. Runs close it before its workspace.
    def close
    end

    # Runs a line of shell; see #execute_program, which takes arguments that a model chose.
    def execute(command, timeout:, context: nil, max_output_bytes: nil, **options)
      execute_program(["/bin/sh", "-c", command], timeout: timeout, context: context, max_output_bytes: max_output_bytes, **options)
    end

    # Runs +command+, an Array of Strings that no shell reads, to its end, at most +timeout+ seconds, and returns an
    # Execution. Each stream is cut at +max_output_bytes+, by default the sandbox's limit. Variables of this process are
    # inherited only when the policy allows it and +inherit_environment+ is true. Raises ToolError after the timeout,
    # and CancelledError and DeadlineExceededError when +context+ says so.
    def execute_program(command, timeout:, context: nil, max_output_bytes: nil, environment: {}, inherit_environment: false, **options)
      # Output is cut, not a reason to end the program.
      given = {context: context, environment: environment, inherit_environment: inherit_environment, output_bytes: (2**64) - 1, **options}
      session = start_program(command, **Native::Keywords.taken(method(:start_program), given))
      raise TypeError, "#{self.class}#start_program must return a ProcessSession, got #{session.class}" unless session.respond_to?(:collect)

      begin
        session.collect(timeout, max_output_bytes || limits.output_bytes, context)
      ensure
        session.close
      end
    end

    # Starts +command+ and returns its ProcessSession, which the caller closes. Sandboxes of an application implement it;
    # options that they do not take are not passed to them.
    def start_program(command, context: nil, environment: {}, inherit_environment: false, **options)
      raise AbstractMethodError, "#{self.class} does not implement #start_program"
    end

    # A Scope with less authority: what the profile of that name says, or the options. Paths are names, which keep their
    # access, or names and access; +network+ is false or a policy. What is nil stays as it is. Raises CapabilityError for
    # anything wider.
    def scope(profile = nil, files: nil, runtime_paths: nil, capabilities: nil, network: nil)
      options = {files: files, runtime_paths: runtime_paths, capabilities: capabilities, network: network}
      Scope.new(sandbox: self, **(profile.nil? ? options : self.profile(profile, options.compact)))
    end

    # Whether the sandbox offers +feature+; of +:network+, whether it enforces the mode +value+.
    def supports?(feature, value = nil)
      capabilities.supports?(feature, value)
    end

    # The options of the profile +name+, which stand alone.
    def profile(name, given) # :nodoc:
      raise ArgumentError, "a profile stands alone; leave out #{given.keys.join(", ")}" unless given.empty?

      found = @profiles.fetch(name.to_sym) { raise PolicyError, "there is no profile #{name.inspect}; define it among the profiles of the sandbox" }
      found = Native::Keywords.call(found, workspace: workspace, policy: policy) if found.respond_to?(:call)
      options = found.to_h.transform_keys(&:to_sym)
      unknown = options.keys - %i[files runtime_paths capabilities network]
      return options if unknown.empty?

      raise PolicyError, "the profile #{name.inspect} has the unknown key #{unknown.first.inspect}; use files, runtime_paths, capabilities or network"
    end

    # The files as the engine knows them. What a subclass says may change, so that nothing is kept.
    def engine # :nodoc:
      policy = effective_policy.declaration.except("network")
      Native::Sandbox.build("unrestricted", workspace.native, {"policy" => policy, "limits" => limits.to_h})
    end

    # Whether the engine starts the programs.
    def own_engine? = false # :nodoc:

    # Names the workspace's root.
    def inspect
      "#<#{self.class} #{workspace.root}>"
    end
  end
end
