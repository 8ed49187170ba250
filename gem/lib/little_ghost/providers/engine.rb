# frozen_string_literal: true

module LittleGhost
  module Providers
    # What the providers share whose requests the engine sends. A class that includes it calls #connect when it is
    # made and names its adapter with +adapter_name+.
    module Engine # :nodoc:
      IGNORE = Native::ProviderParts::IGNORE

      # The model's identifier at the service.
      attr_reader :model

      # Yields the events of one request, +message_stop+ last. Without a block, an Enumerator. Raises
      # ContextWindowOverflowError, MalformedToolCallError, HTTPError and other ProviderErrors.
      def stream(request, &block)
        return enum_for(:stream, request) unless block

        connection = {**to_engine, "connection" => adapter_name, "model" => model, "details" => {}}
        Native::ModelExchange.new({"resolved" => connection}, request, parts: parts).call(&block)
      end

      # Names the model; options may be credentials.
      def inspect
        "#<#{self.class} #{model}>"
      end

      # The connection as the engine makes it.
      def to_engine
        {"adapter" => adapter_name, "options" => @options.merge(parts.options), "host" => parts.names}
      end

      # What the application put in the place of parts of the engine.
      attr_reader :parts

      private

      # Keeps what the engine makes the connection of. +options+ that are nil are left to its defaults. +parts+ are objects
      # of the application: +transport+, +client+, +sleeper+, +on_retry+, +credential_resolver+ and +clock+.
      def connect(model, options, spelling: [], **parts)
        @model = model.to_s.dup.freeze
        @parts = Native::ProviderParts.new(spelling: spelling, **parts)
        @options = options.compact
      end

      # The address unless it is the service's own, which the engine knows.
      def own_address(base_url)
        base_url unless base_url == self.class::DEFAULT_BASE_URL
      end

      # Names and values as Strings; nil for none.
      def own_headers(headers)
        return if headers.nil? || headers == {}
        raise ConfigurationError, "headers must be a Hash of names and values, got #{headers.class}" unless headers.respond_to?(:to_hash)

        headers.to_hash.to_h { |name, value| [name.to_s, value&.to_s] }
      end
    end
  end
end
