# frozen_string_literal: true

module LittleGhost
  module Providers
    class Anthropic
      # Anthropic's own list of models: which ones a key may use, their limits and what they take.
      class CatalogSource < Models::Catalog::Source
        include Models::Catalog::ServiceList

        ##
        # :singleton-method: new
        # :call-seq: new(provider:, credential_resolver:)
        # A source for the connection called +provider+. +credential_resolver+ is called with +provider:+, +adapter:+
        # and +configuration:+ and returns the connection's options: +api_key+, +base_url+, +api_version+.

        ##
        # :method: refresh
        # :call-seq: refresh(target: nil)
        # Facts about the models of the connection, or about +target+. Raises HTTPError, ProtocolError or CredentialError.

        lists "anthropic", "api_version"

        # The list names features but none of the plain parameters, so it adds to what is known.
        def attribute_merge_strategies
          {supported_parameters: :union}
        end
      end
    end
  end
end
