# frozen_string_literal: true

module LittleGhost
  module Providers
    class OpenRouter
      # OpenRouter's own list of models: limits, prices, and the parameters that the services behind it take.
      class CatalogSource < Models::Catalog::Source
        include Models::Catalog::ServiceList

        ##
        # :singleton-method: new
        # :call-seq: new(provider:, credential_resolver:)
        # A source for the connection called +provider+. +credential_resolver+ is called with +provider:+, +adapter:+
        # and +configuration:+ and returns the connection's options: +api_key+, +base_url+; it may be nil, because the
        # list is public.

        ##
        # :method: refresh
        # :call-seq: refresh(target: nil)
        # Facts about the models of the connection, or about +target+. Raises HTTPError, ProtocolError or CredentialError.

        lists "openrouter"
      end
    end
  end
end
