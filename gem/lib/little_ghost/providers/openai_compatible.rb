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
      HEADERS = %w[Authorization Content-Type Accept HTTP-Referer X-Title].freeze
      APIS = %w[responses chat_completions].freeze
      private_constant :DEFAULT_MAX_RESPONSE_BYTES, :REQUEST_OPTIONS, :HEADERS, :APIS

      class << self
        def request_options
          REQUEST_OPTIONS
        end
      end

      # The wire format, +:responses+ or +:chat_completions+.
      attr_reader :api

      # +on_retry+ is called with the number of the attempt, the error and the pause before each new attempt. Timeouts are
      # seconds; without a +read_timeout+ the engine waits as long as reasoning models may be silent.
      # A +transport+ sends requests instead of the engine: its <tt>stream(path:, headers:, body:, cancellation_token:,
      # deadline:)</tt> yields the response as Strings, as that of Support::HTTPClient does, and raises HTTPError for every
      # other status than a success; it runs on a thread or scheduled fiber of its own. A +sleeper+ is called
      # with seconds instead of waiting that long.
      def initialize(api_key:, model:, base_url: DEFAULT_BASE_URL, api: :responses, headers: {}, open_timeout: 10,
        read_timeout: nil, allow_insecure_http: false, max_response_bytes: DEFAULT_MAX_RESPONSE_BYTES, max_retries: 2,
        max_retry_delay: MAX_RETRY_DELAY, transport: nil, sleeper: nil, on_retry: Engine::IGNORE)
        super()
        raise ConfigurationError, "api must be :responses or :chat_completions, got #{api.inspect}" unless APIS.include?(api.to_s)

        @api = api.to_sym
        options = {
          "api_key" => api_key, "base_url" => own_address(base_url), "api" => @api.name, "headers" => own_headers(headers),
          "open_timeout" => open_timeout, "read_timeout" => read_timeout, "allow_insecure_http" => allow_insecure_http,
          "max_response_bytes" => max_response_bytes, "max_retries" => max_retries, "max_retry_delay" => max_retry_delay
        }
        connect(model, options, spelling: HEADERS + options["headers"].to_h.keys, transport: transport, sleeper: sleeper, on_retry: on_retry)
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
