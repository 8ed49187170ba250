# frozen_string_literal: true

module LittleGhost
  module Network
    # The objects of the application in a network policy, while a sandbox uses them: they answer what the engine asks.
    class Attachment # :nodoc:
      def initialize(network)
        @parts = []
        return unless network&.allowlist?

        @parts << network.gateway.tap(&:register) if network.gateway.is_a?(Gateway)
        @parts << Native::Authorization.of(network.authorizer) if network.authorizer.respond_to?(:call)
      end

      def attach
        @parts.each { |part| part.attach(self) }
      end

      def detach
        @parts.each { |part| part.detach(self) }
      end
    end
  end
end
