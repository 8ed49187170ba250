# frozen_string_literal: true

module LittleGhost
  module Providers
    # Google's Gemini API.
    #
    #   provider = LittleGhost::Providers::Gemini.new(
    #     api_key: ENV.fetch("GEMINI_API_KEY"), model: "gemini-3-flash-preview"
    #   )
    #   provider.stream(LittleGhost::ModelRequest.new(messages: [message])) { |event| print event.data[:text] }
    #
    # Signatures of thoughts are kept in the message's reasoning blocks and go back unchanged, so keep those blocks in a
    # history of your own. Failures that may pass are tried again after a pause, which a +model_retry+ event tells. Text
    # that came before is then repeated, so whoever assembles a stream drops what the event supersedes.
    class Gemini < Base
      include Engine

      autoload :CatalogSource, "little_ghost/providers/gemini/catalog_source"

      # The API's address.
      DEFAULT_BASE_URL = "https://generativelanguage.googleapis.com/v1beta/"
      REQUEST_OPTIONS = %i[max_response_bytes max_retries max_retry_delay open_timeout read_timeout].freeze
      HEADERS = %w[Content-Type Accept Authorization].freeze
      private_constant :REQUEST_OPTIONS, :HEADERS

      class << self
        # Options that a model profile may set over those of the connection, as Symbols.
        def request_options
          REQUEST_OPTIONS
        end
      end

      # +api_key+ may be nil for a +base_url+ on this machine, or when +headers+ carry another proof. Timeouts are seconds;
      # without a +read_timeout+ the engine waits as long as reasoning models may be silent. +on_retry+ is called with the
      # number of the attempt, the error and the pause before each new attempt. A +transport+ sends requests instead of the
      # engine and a +sleeper+ waits instead of it, as those of OpenAICompatible do. Other options are passed over.
      def initialize(api_key:, model:, base_url: DEFAULT_BASE_URL, open_timeout: 10, read_timeout: nil,
        max_response_bytes: Support::HTTPClient::DEFAULT_MAX_RESPONSE_BYTES, transport: nil, headers: {},
        allow_insecure_http: false, max_retries: 2, max_retry_delay: 16, sleeper: nil, on_retry: Engine::IGNORE, **)
        super()
        options = {
          "api_key" => api_key, "base_url" => own_address(base_url), "headers" => own_headers(headers),
          "open_timeout" => open_timeout, "read_timeout" => read_timeout, "allow_insecure_http" => allow_insecure_http,
          "max_response_bytes" => max_response_bytes, "max_retries" => max_retries, "max_retry_delay" => max_retry_delay
        }
        connect(
          model, options.merge(own_options),
          spelling: HEADERS + options["headers"].to_h.keys, transport: transport, sleeper: sleeper, on_retry: on_retry, **own_parts
        )
      end

      # Everything: the models take tools, a choice of tool and a schema of the answer.
      def capabilities(metadata: {})
        ModelCapabilities.permissive
      end

      private

      # What subclasses add.
      def own_options = {}

      def own_parts = {}

      def adapter_name = "gemini"
    end
  end
end
