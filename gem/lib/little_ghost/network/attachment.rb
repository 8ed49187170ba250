# frozen_string_literal: true

module LittleGhost
  module Network
    # The objects of the application in a network policy and among the options of a sandbox, while it uses them: they answer
    # what the engine asks.
    class Attachment # :nodoc:
      def initialize(network, *others)
        @parts = others.compact
        return unless network&.allowlist?

        @parts << network.gateway.tap(&:register) if network.gateway.is_a?(Gateway)
        @parts << Native::Authorization.of(network.authorizer) if network.authorizer.respond_to?(:call)
      end

      def attach(user = self)
        @parts.each { |part| part.attach(user) }
      end

      def detach(user = self)
        @parts.each { |part| part.detach(user) }
      end

      # Answers for as long as the block works.
      def during
        user = Object.new
        attach(user)
        yield
      ensure
        detach(user)
      end
    end
  end
end
