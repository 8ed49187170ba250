# frozen_string_literal: true

module LittleGhost
  module Providers
    # What every provider answers to. Subclass it for a service that the library does not know, and register the
    # class or a factory with Configuration#provider_adapter.
    #
    #   class GatewayProvider < LittleGhost::Providers::Base
    #     def initialize(model:, tenant:)
    #       @model = model
    #       @tenant = tenant
    #     end
    #
    #     def stream(request)
    #       # yield StreamEvents, message_stop with the ModelResponse last
    #     end
    #   end
    class Base
      class << self
        # Options that a model profile may set over those of the connection, as Symbols.
        def request_options
          [].freeze
        end
      end

      # What the model can do, given the facts in +metadata+; everything, unless overridden.
      def capabilities(metadata: {})
        ModelCapabilities.permissive
      end

      # +request+ as this service can take it.
      def prepare_request(request, capabilities:)
        request
      end

      # Yields the events of one request, +message_stop+ last, or returns an object with +each+ that does.
      def stream(_request)
        raise AbstractMethodError, "#{self.class} must implement stream(request)"
      end

      # Names the class: options may be credentials.
      def inspect
        "#<#{self.class}>"
      end
    end
  end
end
