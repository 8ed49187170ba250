# frozen_string_literal: true

module LittleGhost
  module Models
    class Catalog
      # What the sources of providers have in common: the service behind a connection lists its models itself.
      module ServiceList # :nodoc:
        # Options of a connection that every list takes.
        OPTIONS = %w[api_key base_url allow_insecure_http].freeze
        private_constant :OPTIONS

        # What such a source is declared and made by.
        module Declared
          # The source of a connection whose options the block gives when they are needed.
          def of(provider, &options)
            new(provider: provider, credential_resolver: ->(**) { options.call })
          end

          private

          # Its connections have +adapter+, and its list takes these options besides.
          def lists(adapter, *options)
            options = [*OPTIONS, *options].freeze
            define_method(:adapter) { adapter }
            define_method(:option_names) { options }
            private :adapter, :option_names
          end
        end

        def self.included(source)
          source.extend(Declared)
        end

        def initialize(provider:, credential_resolver:)
          super(name: "#{adapter}:#{provider}")
          @provider = provider.to_s
          @credential_resolver = credential_resolver
        end

        # Facts about the models of the connection, or about +target+. Raises Providers::HTTPError, ProtocolError,
        # or CredentialError when the list needs a key that is not there.
        def refresh(target: nil)
          Native::JobWait.answer(Native::Job.own_models(adapter, @provider, list_options, target&.to_s))
        end

        private

        def list_options
          request = {provider: @provider, adapter: adapter, configuration: {}.freeze}
          options = @credential_resolver&.call(**request) || {}
          options.transform_keys(&:to_s).slice(*option_names).compact
        end
      end
    end
  end
end
