# frozen_string_literal: true

module LittleGhost
  module Providers
    # What the providers share whose requests the engine sends. A class that includes it calls #connect when it is
    # made and names its adapter with +adapter_name+.
    module Engine # :nodoc:
      IGNORE = ->(*) {}

      # The model's identifier at the service.
      attr_reader :model

      # Yields the events of one request, +message_stop+ last. Without a block, an Enumerator. Raises
      # ContextWindowOverflowError, MalformedToolCallError, HTTPError and other ProviderErrors.
      def stream(request, &block)
        return enum_for(:stream, request) unless block

        connection = {**to_engine, "connection" => adapter_name, "model" => model, "details" => {}}
        Native::ModelExchange.new({"resolved" => connection}, request).call do |event|
          report_retry(event) if event.type == :model_retry
          block.call(event)
        end
      end

      # Names the model; options may be credentials.
      def inspect
        "#<#{self.class} #{model}>"
      end

      # The connection as the engine makes it.
      def to_engine
        {"adapter" => adapter_name, "options" => @options}
      end

      private

      # Keeps what the engine makes the connection of. +options+ that are nil are left to its defaults.
      def connect(model, options, on_retry: IGNORE)
        @model = model.to_s.dup.freeze
        @on_retry = on_retry
        @options = options.compact
      end

      # Raises ConfigurationError for objects that would stand in for a part of the engine.
      def refuse(**injected)
        name, _ = injected.find { |_, value| !value.nil? }
        return if name.nil?

        raise ConfigurationError, "#{name} cannot be replaced: the engine sends requests itself; use base_url for a gateway and " \
          "LittleGhost::Testing in tests"
      end

      # The address unless it is the service's own, which the engine knows.
      def own_address(base_url)
        base_url unless base_url == self.class::DEFAULT_BASE_URL
      end

      def own_headers(headers)
        headers.empty? ? nil : headers.to_h { |name, value| [name.to_s, value&.to_s] }
      end

      def report_retry(event)
        data = event.data
        error = Native::Failure.classes[data[:error_class]] || ProviderError
        message = "the request failed and is tried again"
        error = error <= HTTPError ? error.new(message, status: data[:http_status]) : error.new(message)
        @on_retry.call(data[:attempt], error, data[:delay])
      end
    end
  end
end
