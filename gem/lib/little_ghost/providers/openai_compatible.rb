# frozen_string_literal: true

module LittleGhost
  module Providers
    # Any service that speaks an OpenAI format: the Responses API, or Chat Completions.
    #
    #   provider = LittleGhost::Providers::OpenAICompatible.new(
    #     api_key: ENV.fetch("MODEL_API_KEY"), model: "example-model", base_url: "https://models.example.test/v1"
    #   )
    #   provider.stream(LittleGhost::ModelRequest.new(messages: [message])) { |event| print event.data[:text] }
    #
    # Failures that may pass are tried again after a pause, which a +model_retry+ event tells. Text that came before
    # is then repeated, so whoever assembles a stream drops what the event supersedes.
    class OpenAICompatible < Base
      autoload :StreamError, "little_ghost/providers/openai_compatible/stream_error"

      # OpenAI's own address.
      DEFAULT_BASE_URL = "https://api.openai.com/v1/"
      # The longest pause between two attempts, in seconds.
      MAX_RETRY_DELAY = 16
      # The largest response, in bytes.
      DEFAULT_MAX_RESPONSE_BYTES = 50 * 1_024 * 1_024
      REQUEST_OPTIONS = %i[max_response_bytes max_retries max_retry_delay open_timeout read_timeout].freeze
      IGNORE = ->(*) {}
      private_constant :DEFAULT_MAX_RESPONSE_BYTES, :REQUEST_OPTIONS, :IGNORE

      class << self
        def request_options
          REQUEST_OPTIONS
        end
      end

      # The wire format, +:responses+ or +:chat_completions+.
      attr_reader :api
      # The model's identifier at the service.
      attr_reader :model

      # +on_retry+ is called with the number of the attempt, the error and the pause before each new attempt. Timeouts are
      # seconds; without a +read_timeout+ the engine waits as long as reasoning models may be silent.
      # Requests are sent by the engine, so a +transport+ or a +sleeper+ of your own cannot be used: both raise
      # ConfigurationError. A gateway is reached by +base_url+, and LittleGhost::Testing replaces the network in tests.
      def initialize(api_key:, model:, base_url: DEFAULT_BASE_URL, api: :responses, headers: {}, open_timeout: 10,
        read_timeout: nil, allow_insecure_http: false, max_response_bytes: DEFAULT_MAX_RESPONSE_BYTES, max_retries: 2,
        max_retry_delay: MAX_RETRY_DELAY, transport: nil, sleeper: nil, on_retry: IGNORE)
        super()
        unless transport.nil? && sleeper.nil?
          raise ConfigurationError, "#{transport.nil? ? "sleeper" : "transport"} cannot be replaced: the engine sends requests " \
            "itself; use base_url for a gateway and LittleGhost::Testing in tests"
        end

        @model = model.to_s.dup.freeze
        @api = api.to_sym
        @on_retry = on_retry
        @options = {
          "api_key" => api_key, "base_url" => (base_url unless base_url == self.class::DEFAULT_BASE_URL), "api" => @api.name,
          "headers" => headers.empty? ? nil : headers.to_h { |name, value| [name.to_s, value&.to_s] },
          "open_timeout" => open_timeout, "read_timeout" => read_timeout, "allow_insecure_http" => allow_insecure_http,
          "max_response_bytes" => max_response_bytes, "max_retries" => max_retries, "max_retry_delay" => max_retry_delay
        }.compact
      end

      # Everything: services of this kind are expected to take every feature.
      def capabilities(metadata: {})
        ModelCapabilities.permissive
      end

      # Yields the events of one request, +message_stop+ last. Without a block, an Enumerator. Raises
      # ContextWindowOverflowError, MalformedToolCallError, HTTPError, StreamError and other ProviderErrors.
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
      def to_engine # :nodoc:
        {"adapter" => adapter_name, "options" => @options}
      end

      private

      def adapter_name = "openai_compatible"

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
