# frozen_string_literal: true

module LittleGhost
  module Providers
    class Gemini
      # The list of models of the Gemini API: which ones a key may use, and their limits.
      class CatalogSource < Models::Catalog::Source
        include Models::Catalog::ServiceList

        # The source of a connection whose options the block gives when they are needed.
        def self.of(provider, &options) # :nodoc:
          new(provider: provider, credential_resolver: ->(**) { options.call })
        end

        # A source for the connection called +provider+. +credential_resolver+ is called with +provider:+, +adapter:+
        # and +configuration:+ and returns the connection's options: +api_key+, +base_url+.
        def initialize(provider:, credential_resolver:)
          super(name: "gemini:#{provider}")
          list("gemini", provider, credential_resolver)
        end
      end
    end
  end
end
