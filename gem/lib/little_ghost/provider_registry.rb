# frozen_string_literal: true

module LittleGhost
  # The adapters by name: what turns a connection's options into a provider. Built in are +openai+, +openai_compatible+,
  # +openrouter+, +anthropic+, +gemini+, +vertex_ai+ and +bedrock+.
  class ProviderRegistry
    BUILT_IN = {
      "openai" => :OpenAI, "openai_compatible" => :OpenAICompatible, "openrouter" => :OpenRouter, "anthropic" => :Anthropic,
      "gemini" => :Gemini, "vertex_ai" => :VertexAI, "bedrock" => :Bedrock
    }.freeze
    private_constant :BUILT_IN

    def initialize(adapters = {})
      @adapters = adapters.to_h { |name, adapter| [name.to_s, checked(name, adapter)] }.freeze
    end

    # Adds an adapter and returns self: a subclass of Providers::Base, or what is called with +model:+,
    # +configuration:+ and, as far as it takes them, +role:+, +settings:+, +details:+, +invocation:+ and +context:+
    # and returns a provider.
    def register(name, adapter = nil, &factory)
      @adapters = @adapters.merge(name.to_s => checked(name, adapter || factory)).freeze
      self
    end

    # Every name.
    def names
      (BUILT_IN.keys + @adapters.keys).uniq
    end

    # A copy with more adapters.
    def with(adapters) # :nodoc:
      adapters.empty? ? self : ProviderRegistry.new(@adapters.merge(adapters.to_h.transform_keys(&:to_s)))
    end

    # Whether the application has adapters of its own.
    def custom? = @adapters.any? # :nodoc:

    def custom_names = @adapters.keys # :nodoc:

    # The provider for one model. Raises AdapterLoadError for an unknown adapter, for one that needs a file or gem which is
    # not there, and for a factory that returns no provider; ConfigurationError for options that do not fit.
    def build(name, connection:, model:, configuration:, request: {}, **facts) # :nodoc:
      adapter = @adapters.fetch(name.to_s) { built_in(name.to_s) }
      provider =
        if adapter.is_a?(Class)
          instance(adapter, connection, model, configuration, request)
        else
          Native::Keywords.call(adapter, model: model, configuration: symbols(configuration.merge(request)), **facts)
        end
      return provider if provider.is_a?(Providers::Base)

      raise AdapterLoadError, "adapter #{name} of connection #{connection} must make a LittleGhost::Providers::Base, " \
        "got #{provider.class}"
    rescue LoadError => error
      raise AdapterLoadError, "adapter #{name} of connection #{connection} cannot be loaded: #{error.message}"
    end

    private

    def checked(name, adapter)
      return adapter if adapter.respond_to?(:call) || (adapter.is_a?(Class) && adapter <= Providers::Base)

      raise ArgumentError, "adapter #{name} must be a subclass of LittleGhost::Providers::Base or a factory, got #{adapter.inspect}"
    end

    def built_in(name)
      constant = BUILT_IN.fetch(name) { raise AdapterLoadError, "there is no adapter #{name}; available are #{names.join(", ")}" }
      Providers.const_get(constant, false)
    end

    def instance(adapter, connection, model, configuration, request)
      request = symbols(request).slice(*adapter.request_options)
      options = symbols(configuration).compact.merge(request)
      options = {api_key: nil, **options} if adapter.instance_method(:initialize).parameters.include?(%i[keyreq api_key]) || adapter <= Providers::OpenAICompatible
      adapter.new(model: model, **options)
    rescue ArgumentError => error
      raise ConfigurationError, "connection #{connection}: #{error.message}"
    end

    def symbols(hash)
      hash.transform_keys(&:to_sym)
    end
  end
end
