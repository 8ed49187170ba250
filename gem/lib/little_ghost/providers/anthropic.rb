# frozen_string_literal: true

module LittleGhost
  module Providers
    # Anthropic, by the Messages API, and services that speak its format.
    #
    #   provider = LittleGhost::Providers::Anthropic.new(
    #     api_key: ENV.fetch("ANTHROPIC_API_KEY"), model: "claude-sonnet-4-5"
    #   )
    #   provider.stream(LittleGhost::ModelRequest.new(messages: [message])) { |event| print event.data[:text] }
    #
    # Failures that may pass are tried again after a pause, which a +model_retry+ event tells. Text that came before
    # is then repeated, so whoever assembles a stream drops what the event supersedes.
    class Anthropic < Base
      include Engine

      autoload :CatalogSource, "little_ghost/providers/anthropic/catalog_source"

      # The API's address.
      DEFAULT_BASE_URL = "https://api.anthropic.com/v1/"
      REQUEST_OPTIONS = %i[max_response_bytes max_retries max_retry_delay open_timeout read_timeout].freeze
      HEADERS = %w[x-api-key anthropic-version Content-Type Accept].freeze
      private_constant :REQUEST_OPTIONS, :HEADERS

      class << self
        # Options that a model profile may set over those of the connection, as Symbols.
        def request_options
          REQUEST_OPTIONS
        end
      end

      # +api_key+ may be nil for a +base_url+ on this machine, or when +headers+ carry another proof. +headers+ are added
      # to every request, such as +anthropic-beta+. Timeouts are seconds; without a +read_timeout+ the engine waits as
      # long as reasoning models may be silent. A +transport+ sends requests instead of the engine and a +sleeper+ waits
      # between attempts, as those of OpenAICompatible. +on_retry+ is called with the number of the attempt, the error and
      # the pause before each new attempt. Other options are passed over.
      def initialize(api_key:, model:, base_url: DEFAULT_BASE_URL, api_version: "2023-06-01", open_timeout: 10,
        read_timeout: nil, max_response_bytes: Support::HTTPClient::DEFAULT_MAX_RESPONSE_BYTES, transport: nil, headers: {},
        allow_insecure_http: false, max_retries: 2, max_retry_delay: 16, sleeper: nil, on_retry: Engine::IGNORE, **)
        super()
        options = {
          "api_key" => api_key, "base_url" => own_address(base_url), "api_version" => api_version,
          "headers" => own_headers(headers), "open_timeout" => open_timeout, "read_timeout" => read_timeout,
          "allow_insecure_http" => allow_insecure_http, "max_response_bytes" => max_response_bytes,
          "max_retries" => max_retries, "max_retry_delay" => max_retry_delay
        }
        connect(model, options, spelling: HEADERS + options["headers"].to_h.keys, transport: transport, sleeper: sleeper, on_retry: on_retry)
      end

      # Tools, and a schema of the answer where +supported_parameters+ of the facts name it.
      def capabilities(metadata: {})
        ModelCapabilities.from_details(metadata).with(tools: true, tool_choice: true, known: true)
      end

      private

      def adapter_name = "anthropic"
    end
  end
end
