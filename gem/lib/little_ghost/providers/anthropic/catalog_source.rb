# frozen_string_literal: true

module LittleGhost
  module Providers
    class Anthropic
      # Anthropic's own list of models: which ones a key may use, their limits and what they take.
      class CatalogSource < Models::Catalog::Source
        include Models::Catalog::ServiceList

        # The source of a connection whose options the block gives when they are needed.
        def self.of(provider, &options) # :nodoc:
          new(provider: provider, credential_resolver: ->(**) { options.call })
        end

        # A source for the connection called +provider+. +credential_resolver+ is called with +provider:+, +adapter:+
        # and +configuration:+ and returns the connection's options: +api_key+, +base_url+, +api_version+.
        def initialize(provider:, credential_resolver:)
          super(name: "anthropic:#{provider}")
          list("anthropic", provider, credential_resolver, ["api_version"])
        end

        # The list names features but none of the plain parameters, so it adds to what is known.
        def attribute_merge_strategies
          {supported_parameters: :union}
        end
      end
    end
  end
end
