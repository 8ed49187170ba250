# frozen_string_literal: true

module LittleGhost
  module Providers
    class Gemini
      # The list of models of the Gemini API: which ones a key may use, and their limits.
      class CatalogSource < Models::Catalog::Source
        include Models::Catalog::ServiceList

        ##
        # :singleton-method: new
        # :call-seq: new(provider:, credential_resolver:)
        # A source for the connection called +provider+. +credential_resolver+ is called with +provider:+, +adapter:+
        # and +configuration:+ and returns the connection's options: +api_key+, +base_url+.

        ##
        # :method: refresh
        # :call-seq: refresh(target: nil)
        # Facts about the models of the connection, or about +target+. Raises HTTPError, ProtocolError or CredentialError.

        lists "gemini"
      end
    end
  end
end
