# frozen_string_literal: true

module LittleGhost
  class Configuration
    # Which models there are, who serves them, and with whose credentials.
    module ModelSettings # :nodoc:
      extend Settings

      # Provider connections: name => {adapter:, ...options}.
      setting(:providers)
      # Model profiles: role => {target:, settings:, ...}. A role has no colon in its name.
      setting(:models)
      # The role of agents that declare no model, as a String.
      setting(:default_model) { |value| value&.to_s }
      # A subclass of ModelResolver to use instead. It excludes +models+, +models_path+ and +default_model+.
      setting(:model_resolver)
      setting(:provider_adapters, default: {}) { |value| value.to_h.transform_keys(&:to_s) }
      setting(:catalog_sources, default: []) { |value| Array(value).dup }
      Settings.declare(:provider_credentials, nil)

      # Registers the adapter +name+: a subclass of Providers::Base, which is made with +model:+ and the options of the
      # connection, or a factory, which is called with +model:+ and +configuration:+, and with +role:+, +settings:+,
      # +details:+, +invocation:+ and +context:+ if it takes them, and returns a provider.
      def provider_adapter(name, callable = nil, &factory)
        callable ||= factory
        callable = callable(:provider_adapter, callable) unless callable.is_a?(Class) && callable <= Providers::Base
        write(:provider_adapters, read(:provider_adapters).merge(name.to_s => callable))
        callable
      end

      # Installs what gives a connection its credentials: called with +provider:+, +adapter:+ and
      # +configuration:+ whenever a model is made, it returns a Hash of options. Without an argument, returns it.
      def provider_credentials(callable = nil, &resolver)
        callable ||= resolver
        callable.nil? ? read(:provider_credentials) : self.provider_credentials = callable
      end

      def provider_credentials=(value)
        write(:provider_credentials, value.nil? ? nil : callable(:provider_credentials, value))
      end

      # Adds a source of facts about models, which ModelResolver#refresh! asks. Returns it.
      def catalog_source(source)
        write(:catalog_sources, read(:catalog_sources) + [source])
        source
      end

      private

      def callable(setting, value)
        return value if value.respond_to?(:call)

        raise ArgumentError, "#{setting} takes a block or an object with call, got #{value.class}"
      end
    end
  end
end
