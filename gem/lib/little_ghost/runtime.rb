# frozen_string_literal: true

module LittleGhost
  # What many runs share: models, prompts, sessions, hooks, and the settings they were built from.
  # Applications rarely make one; LittleGhost.runtime does. Make your own to host an isolated set-up
  # in the same process:
  #
  #   runtime = LittleGhost::Runtime.new(configuration: LittleGhost::Configuration.new(providers: ...))
  #   SupportAgent.new(runtime: runtime).ask("Where is order 481?")
  #
  # It may be used from many threads and fibers at once, and survives a fork: a child gets
  # connections of its own. There is nothing to shut down.
  class Runtime
    autoload :Hook, "little_ghost/runtime/hook"
    autoload :Hooks, "little_ghost/runtime/hooks"
    autoload :Persistence, "little_ghost/runtime/persistence"
    autoload :Resources, "little_ghost/runtime/resources"
    autoload :Services, "little_ghost/runtime/services"
    autoload :Startup, "little_ghost/runtime/startup"

    include Services
    include Persistence

    # The Configuration this Runtime was built from.
    attr_reader :configuration
    # The frozen settings that new runs use. They show their names only when inspected.
    attr_reader :settings
    # The application's root, a Pathname.
    attr_reader :root
    # Finds the application's agents, assemblies and tools; a Support::Loader.
    attr_reader :loader
    # Where prompts are looked up, a PathSet.
    attr_reader :prompt_paths
    # Where skills are looked up, a PathSet.
    attr_reader :skill_paths
    # The Runtime::Hook instances, in order.
    attr_reader :runtime_hooks
    # Turns what agents select into models, a ModelResolver.
    attr_reader :model_resolver
    attr_reader :prompts # :nodoc:
    attr_reader :engine # :nodoc:

    # Takes a copy of the configuration's settings, or the given +settings+, and loads the application's
    # definitions. Raises ConfigurationError for settings that cannot work.
    def initialize(configuration:, settings: nil)
      @configuration = configuration
      Startup.measure(settings ? settings[:service_name] : configuration.service_name) { |startup| boot(startup, settings) }
    end

    # A sibling with some settings replaced.
    def build(**overrides)
      self.class.new(configuration: configuration, settings: Configuration.new(settings.merge(overrides)).resolved)
    end

    # A dormant Run for +payload+, a Hash with at least +message+, or an Invocation. It owns the workspace
    # and the sandbox that are built for it; given ones stay the caller's. Exceptions close what was built.
    def build_run(payload, agent_class: nil, assembly_class: nil, entrypoint_class: nil, execution_class: nil,
      cancellation_token: Support::CancellationToken.new, workspace: nil, sandbox: nil,
      include_agent_events_by_default: false)
      invocation = parse(payload)
      declared = sandbox.nil? && !sandbox_declaration.nil?
      own_workspace = build_workspace(invocation: invocation) if workspace.nil? && (declared || !workspace_declaration.nil?)
      own_sandbox = build_sandbox(workspace: workspace || own_workspace, invocation: invocation) if declared
      run = Run.new(
        invocation: invocation, runtime: self, agent_class: agent_class, assembly_class: assembly_class,
        entrypoint_class: entrypoint_class, execution_class: execution_class, cancellation_token: cancellation_token,
        workspace: workspace || own_workspace, sandbox: sandbox || own_sandbox,
        include_agent_events_by_default: include_agent_events_by_default
      )
      run.own(own_workspace, own_sandbox)
      runtime_hooks.prepare_run(run)
      run
    rescue StandardError, ScriptError
      run ? run.close : [own_sandbox, own_workspace].each { |resource| resource.close if resource.respond_to?(:close) }
      raise
    end

    # +payload+ as the configured Invocation class. Raises InvocationError when it is not usable.
    def parse(payload)
      type = settings[:invocation]
      payload.is_a?(type) ? payload : type.new(payload)
    end

    # The declared workspace, built for one run, or else one of the application's root. It is not open.
    def build_workspace(invocation: nil)
      declaration = workspace_declaration.nil? ? :directory : workspace_declaration
      Resources.new(Workspace, declaration, self).build(invocation: invocation)
    end

    # The declared sandbox around +workspace+, or else one that contains nothing, which has this process's authority and
    # is no security boundary. It is not open.
    def build_sandbox(workspace:, invocation: nil)
      declaration = sandbox_declaration.nil? ? :unrestricted : sandbox_declaration
      Resources.new(Sandbox, declaration, self).build(invocation: invocation, workspace: workspace)
    end

    # Never shows settings: they hold credentials.
    def inspect
      "#<#{self.class} #{root}>"
    end
  end
end
