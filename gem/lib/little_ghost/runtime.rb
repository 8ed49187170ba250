# frozen_string_literal: true

module LittleGhost
  # What many runs share: resolved providers and models, and the settings they were built from.
  # Applications rarely make one; LittleGhost.runtime does. Make your own to host an isolated set-up
  # in the same process:
  #
  #   runtime = LittleGhost::Runtime.new(configuration: LittleGhost::Configuration.new(providers: ...))
  #   SupportAgent.new(runtime: runtime).ask("Where is order 481?")
  #
  # It may be used from many threads and fibers at once, and survives a fork: a child gets
  # connections of its own. There is nothing to shut down.
  class Runtime
    # The Configuration this Runtime was built from.
    attr_reader :configuration
    # The frozen settings that new runs use.
    attr_reader :settings
    attr_reader :engine # :nodoc:

    # Takes a copy of the configuration's settings, or the given +settings+. Raises ConfigurationError
    # for providers or models that cannot work.
    def initialize(configuration:, settings: nil)
      @configuration = configuration
      @settings = settings || configuration.snapshot
      @engine = build_engine
    end

    # A sibling with some settings replaced.
    def build(**overrides)
      self.class.new(configuration: configuration, settings: settings.merge(overrides).freeze)
    end

    # A dormant Run for +payload+, a Hash with at least +message+, or an Invocation.
    def build_run(payload, agent_class: nil, assembly_class: nil, entrypoint_class: nil, execution_class: nil,
      cancellation_token: Support::CancellationToken.new, workspace: nil, sandbox: nil,
      include_agent_events_by_default: false)
      Run.new(
        invocation: parse(payload), runtime: self, agent_class: agent_class, assembly_class: assembly_class,
        entrypoint_class: entrypoint_class, execution_class: execution_class,
        cancellation_token: cancellation_token, workspace: workspace, sandbox: sandbox,
        include_agent_events_by_default: include_agent_events_by_default
      )
    end

    # +payload+ as the configured Invocation class. Raises InvocationError when it is not usable.
    def parse(payload)
      type = settings[:invocation]
      payload.is_a?(type) ? payload : type.new(payload)
    end

    # How overlapping work starts.
    def concurrency_backend # :nodoc:
      settings[:concurrency_backend]
    end

    # Never shows settings: they hold credentials.
    def inspect
      "#<#{self.class}>"
    end

    private

    def build_engine
      Native::Engine.new(settings.slice(:providers, :models, :default_model).compact)
    rescue TypeError, EncodingError => error
      raise ConfigurationError, "providers and models hold a value that is no plain data: #{error.message}"
    end
  end
end
