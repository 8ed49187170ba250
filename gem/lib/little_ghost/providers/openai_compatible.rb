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
      include Engine

      autoload :StreamError, "little_ghost/providers/openai_compatible/stream_error"

      # OpenAI's own address.
      DEFAULT_BASE_URL = "https://api.openai.com/v1/"
      # The longest pause between two attempts, in seconds.
      MAX_RETRY_DELAY = 16
      # The largest response, in bytes.
      DEFAULT_MAX_RESPONSE_BYTES = 50 * 1_024 * 1_024
      REQUEST_OPTIONS = %i[max_response_bytes max_retries max_retry_delay open_timeout read_timeout].freeze
      private_constant :DEFAULT_MAX_RESPONSE_BYTES, :REQUEST_OPTIONS

      class << self
        def request_options
          REQUEST_OPTIONS
        end
      end

      # The wire format, +:responses+ or +:chat_completions+.
      attr_reader :api

      # +on_retry+ is called with the number of the attempt, the error and the pause before each new attempt. Timeouts are
      # seconds; without a +read_timeout+ the engine waits as long as reasoning models may be silent.
      # Requests are sent by the engine, so a +transport+ or a +sleeper+ of your own cannot be used: both raise
      # ConfigurationError. A gateway is reached by +base_url+, and LittleGhost::Testing replaces the network in tests.
      def initialize(api_key:, model:, base_url: DEFAULT_BASE_URL, api: :responses, headers: {}, open_timeout: 10,
        read_timeout: nil, allow_insecure_http: false, max_response_bytes: DEFAULT_MAX_RESPONSE_BYTES, max_retries: 2,
        max_retry_delay: MAX_RETRY_DELAY, transport: nil, sleeper: nil, on_retry: Engine::IGNORE)
        super()
        refuse(transport: transport, sleeper: sleeper)
        @api = api.to_sym
        options = {
          "api_key" => api_key, "base_url" => own_address(base_url), "api" => @api.name, "headers" => own_headers(headers),
          "open_timeout" => open_timeout, "read_timeout" => read_timeout, "allow_insecure_http" => allow_insecure_http,
          "max_response_bytes" => max_response_bytes, "max_retries" => max_retries, "max_retry_delay" => max_retry_delay
        }
        connect(model, options, on_retry: on_retry)
      end

      # Everything: services of this kind are expected to take every feature.
      def capabilities(metadata: {})
        ModelCapabilities.permissive
      end

      private

      def adapter_name = "openai_compatible"
    end
  end
end
