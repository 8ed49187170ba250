# frozen_string_literal: true

module LittleGhost
  module Providers
    # The connections of an application. Override #credentials to fetch secrets when a model is made.
    class Configuration
      # Name => {"adapter" => ..., options}, deeply frozen.
      attr_reader :connections

      # Copies +connections+; names and options become Strings.
      def initialize(connections = {})
        raise ConfigurationError, "providers must be a Hash of connections, got #{connections.class}" unless connections.respond_to?(:to_hash)

        @connections = connections.to_hash.to_h { |name, options| [name.to_s.dup.freeze, copy(mapping(name, options))] }.freeze
      end

      # Options that are merged into +configuration+ whenever a model of the connection +provider+ is made; none,
      # unless overridden.
      def credentials(provider:, adapter:, configuration:)
        {}
      end

      # Names the connections; their options may be credentials.
      def inspect
        "#<#{self.class} #{connections.keys.join(", ")}>"
      end

      private

      def mapping(name, options)
        return options.to_hash if options.respond_to?(:to_hash)

        raise ConfigurationError, "connection #{name} must be a Hash with an adapter and its options, got #{options.class}"
      end

      def copy(value)
        case value
        when Hash then value.to_h { |key, nested| [key.to_s.dup.freeze, copy(nested)] }.freeze
        when Array then value.map { |nested| copy(nested) }.freeze
        when String then value.frozen? ? value : value.dup.freeze
        else value
        end
      end
    end
  end
end
