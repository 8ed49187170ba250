# frozen_string_literal: true

module LittleGhost
  # Turns what an agent selects into a Model.
  #
  #   resolver = LittleGhost::ModelResolver.new(
  #     profiles: {customer_support: {target: "openrouter:openai/gpt-5.6-luna", settings: {temperature: 0.2}}}
  #   )
  #   resolver.resolve(:customer_support).target # => "openrouter:openai/gpt-5.6-luna"
  #
  # A role without a profile has that of its prefix: <tt>support.billing</tt> that of +support+.
  class ModelResolver
    # Providers whose services list their models themselves, by adapter.
    SERVICES = {"anthropic" => :Anthropic, "bedrock" => :Bedrock, "gemini" => :Gemini, "openrouter" => :OpenRouter}.freeze
    private_constant :SERVICES

    # What is known about models, a Models::Catalog.
    attr_reader :catalog
    # The role or target of agents that select nothing, a String.
    attr_reader :default_model
    # The connections, a Providers::Configuration.
    attr_reader :providers
    attr_reader :engine # :nodoc:

    # Without +providers+, keys of the environment make connections; without +profiles+ the role +default+ is
    # GPT-5.6 Luna at the first connection that has it. +provider_adapters+ maps names of adapters to classes or
    # factories. +credential_resolver+ is called with +provider:+, +adapter:+ and +configuration:+ whenever a
    # model is made and returns options for the connection. Raises ConfigurationError for connections and profiles
    # that cannot work.
    def initialize(providers: nil, profiles: nil, default_model: nil, provider_registry: ProviderRegistry.new,
      catalog: nil, catalog_sources: [], provider_adapters: {}, credential_resolver: nil)
      @providers = providers.is_a?(Providers::Configuration) ? providers : Providers::Configuration.new(providers || {})
      @registry = provider_registry.with(provider_adapters)
      @credential_resolver = credential_resolver
      @catalog = catalog || Models::Catalog.new(sources: catalog_sources)
      @engine = build_engine(profiles, default_model)
      @default_model = @engine.default_model.freeze
      @catalog.connect(@engine.connections) { usual_sources }
    end

    # The Model for a role, a target or a mapping of +provider+ (a connection), +model+ and settings; nil is the
    # default. A model is returned as it is, and a provider as a model. +profiles+ go over the configured ones, for each prefix of a role. Factories of
    # adapters get +invocation+, +context+ and further options. Raises ConfigurationError for what is unknown.
    def resolve(selection, invocation: nil, context: nil, profiles: nil, **options)
      return Model.of(selection) if selection.is_a?(Providers::Base)
      return selection if selection.respond_to?(:stream) || selection.respond_to?(:to_engine)

      described = @engine.describe(selection, profiles || {})
      details = Models::Details.new(**described["details"].transform_keys(&:to_sym))
      connection = described["connection"]
      configuration = options_of(connection, described["adapter"])
      provider = @registry.build(
        described["adapter"], connection: connection, model: described["model_id"], configuration: configuration,
        request: described["request"], role: described["role"], settings: described["settings"], details: details,
        invocation: invocation, context: context, **options
      )
      Model.new(
        provider: provider, target: described["target"], settings: described["settings"], details: details, role: described["role"]
      )
    end

    # What is known about +target+, as Models::Details. Needs no credentials.
    def details(target)
      catalog.details(target)
    end

    # Fetches fresh facts, as Models::Catalog#refresh!: from the configured sources, or else from models.dev
    # and then, for each connection, the list that its service keeps itself: OpenRouter, Anthropic, Gemini, Bedrock.
    def refresh!(target: nil)
      catalog.refresh!(target: target)
    end

    # Names what there is; connections hold credentials.
    def inspect
      "#<#{self.class} #{@engine.connections.keys.join(", ")}>"
    end

    # What an agent's declaration says about its selection. Where the engine can resolve it, it does so.
    def declare(selection, invocation: nil) # :nodoc:
      return Native::ModelDeclaration.of(selection) if selection.respond_to?(:stream) || selection.respond_to?(:to_engine)
      return selection if plain?

      yield
    end

    private

    # Whether the engine resolves like this object.
    def plain?
      instance_of?(ModelResolver) && @credential_resolver.nil? && providers.instance_of?(Providers::Configuration) &&
        !@registry.custom? && providers.connections.none? { |_, options| Native::ProviderParts.any?(options) }
    end

    def build_engine(profiles, default_model)
      Native::Engine.with_catalog(
        {
          providers: plain_connections, models: profiles || {}, default_model: default_model&.to_s,
          host_adapters: @registry.custom_names
        }, @catalog.native
      )
    rescue TypeError, EncodingError => error
      raise ConfigurationError, "providers and models hold a value that is no plain data: #{error.message}"
    end

    # What the engine is told of the connections: objects stay here, and what adapters of the application are given.
    def plain_connections
      providers.connections.transform_values do |options|
        next options.slice("adapter") if @registry.custom_names.include?(options["adapter"].to_s)

        Native::ProviderParts.told(options)
      end
    end

    def options_of(connection, adapter)
      configuration = (providers.connections[connection] || {}).except("adapter").freeze
      request = {provider: connection, adapter: adapter, configuration: configuration}
      [providers.method(:credentials), @credential_resolver].compact.reduce(configuration) do |options, source|
        found = source.call(**request)
        raise CredentialError, "the credentials of connection #{connection} must be a Hash, got #{found.class}" unless found.is_a?(Hash)

        options.merge(found.transform_keys(&:to_s))
      end
    end

    def usual_sources
      connections = @engine.connections
      # What the application calls by that name may be another service.
      lists = connections.reject { |_, adapter| @registry.custom_names.include?(adapter) }.filter_map do |name, adapter|
        Providers.const_get(SERVICES[adapter])::CatalogSource.of(name) { options_of(name, adapter) } if SERVICES.key?(adapter)
      end
      [Models::Catalog::ModelsDevSource.new(provider_adapters: connections), *lists]
    end
  end
end
