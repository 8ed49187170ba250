# frozen_string_literal: true

module LittleGhost
  module Providers
    class OpenRouter
      # OpenRouter's own list of models: limits, prices, and the parameters that the services behind it take.
      class CatalogSource < Models::Catalog::Source
        # A source for the connection called +provider+. +credential_resolver+ is called with +provider:+ and +adapter:+
        # and returns the connection's options: +api_key+, +base_url+; it may be nil, because the list is public.
        def initialize(provider:, credential_resolver:)
          super(name: "openrouter:#{provider}")
          @provider = provider.to_s
          @credential_resolver = credential_resolver
        end

        # Facts about the models of the connection, or about +target+. Raises HTTPError or ProtocolError.
        def refresh(target: nil)
          options = @credential_resolver&.call(provider: @provider, adapter: "openrouter", configuration: {}.freeze) || {}
          options = options.transform_keys(&:to_s).slice("api_key", "base_url", "allow_insecure_http")
          Native::JobWait.answer(Native::Job.openrouter_models(@provider, options, target&.to_s))
        end
      end
    end
  end
end
