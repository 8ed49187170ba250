# frozen_string_literal: true

module LittleGhost
  module Models
    class Catalog
      # What the sources of providers have in common: the service behind a connection lists its models itself.
      module ServiceList # :nodoc:
        # Facts about the models of the connection, or about +target+. Raises Providers::HTTPError, ProtocolError,
        # or CredentialError when the list needs a key that is not there.
        def refresh(target: nil)
          Native::JobWait.answer(Native::Job.own_models(@adapter, @provider, list_options, target&.to_s))
        end

        private

        # The connection +provider+ has +adapter+; +names+ are options that the list needs.
        def list(adapter, provider, credential_resolver, names = [])
          @adapter = adapter
          @provider = provider.to_s
          @credential_resolver = credential_resolver
          @names = ["api_key", "base_url", "allow_insecure_http", *names].freeze
        end

        def list_options
          request = {provider: @provider, adapter: @adapter, configuration: {}.freeze}
          options = @credential_resolver&.call(**request) || {}
          options.transform_keys(&:to_s).slice(*@names).compact
        end
      end
    end
  end
end
