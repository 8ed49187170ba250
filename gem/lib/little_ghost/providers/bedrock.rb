# frozen_string_literal: true

module LittleGhost
  module Providers
    # Amazon Bedrock, by its Converse API.
    #
    #   provider = LittleGhost::Providers::Bedrock.new(
    #     model: ENV.fetch("BEDROCK_MODEL_ID"), region: ENV.fetch("AWS_REGION")
    #   )
    #   provider.stream(LittleGhost::ModelRequest.new(messages: [message])) { |event| print event.data[:text] }
    #
    # Requests are signed with +credentials+ or with those of a +credential_resolver+, or else with what AWS's own tools
    # would use: environment variables, profiles, sign-ins, roles and metadata services. An +api_key+ of Bedrock takes
    # their place.
    #
    # Failures that may pass are tried again after a pause, which a +model_retry+ event tells. Text that came before
    # is then repeated, so whoever assembles a stream drops what the event supersedes.
    class Bedrock < Base
      include Engine

      autoload :CatalogSource, "little_ghost/providers/bedrock/catalog_source"
      autoload :CredentialResolver, "little_ghost/providers/bedrock/credential_resolver"
      autoload :StreamError, "little_ghost/providers/bedrock/stream_error"

      REQUEST_OPTIONS = %i[max_response_bytes max_retries max_retry_delay open_timeout read_timeout].freeze
      CLIENT_OPTIONS = %i[
        credentials profile api_key endpoint open_timeout read_timeout allow_insecure_http max_response_bytes max_frame_bytes
        max_retry_delay
      ].freeze
      PARTS = %i[credential_resolver clock].freeze
      HEADERS = %w[Content-Type Accept Authorization X-Amz-Date X-Amz-Security-Token].freeze
      private_constant :REQUEST_OPTIONS, :CLIENT_OPTIONS, :PARTS, :HEADERS

      class << self
        # Options that a model profile may set over those of the connection, as Symbols.
        def request_options
          REQUEST_OPTIONS
        end
      end

      # +region+ defaults to +AWS_REGION+, +AWS_DEFAULT_REGION+ or that of the profile.
      #
      # A +client+ sends requests instead of the engine: any object whose +converse_stream+ takes the request as keywords
      # in snake case and returns an object whose +stream+ yields the events, as that of AWS's SDK. A +sleeper+ waits
      # between attempts. +on_retry+ is called with the number of the attempt, the error and the pause before each new
      # attempt.
      #
      # Other options are +credentials+ (a Hash or an object with +access_key_id+, +secret_access_key+ and perhaps
      # +session_token+), a +credential_resolver+ that is called for such an object before each attempt, +profile+,
      # +api_key+, +endpoint+, +open_timeout+ and +read_timeout+ in seconds, +allow_insecure_http+, +max_response_bytes+
      # (256 MiB), +max_frame_bytes+ (16 MiB), +max_retry_delay+ in seconds (16) and a +clock+ that is called for the Time
      # of signatures. Raises ConfigurationError for any other.
      def initialize(model:, region: nil, client: nil, max_retries: 2, sleeper: nil, on_retry: Engine::IGNORE, **client_options)
        super()
        unknown = client_options.keys - CLIENT_OPTIONS - PARTS
        raise ConfigurationError, "unknown options of Bedrock: #{unknown.join(", ")}" unless unknown.empty?

        given = client_options.slice(*PARTS)
        keys = client_options[:credentials]
        given[:credential_resolver] ||= -> { keys } unless keys.nil? || keys.is_a?(Hash)
        options = client_options.slice(*CLIENT_OPTIONS).merge(region: region, max_retries: max_retries, credentials: plain(keys))
        connect(
          model, options.transform_keys(&:name), spelling: HEADERS, client: client, sleeper: sleeper, on_retry: on_retry, **given
        )
      end

      # What +supported_parameters+ of the facts say; unknown without them.
      def capabilities(metadata: {})
        ModelCapabilities.from_details(metadata)
      end

      private

      def adapter_name = "bedrock"

      def plain(keys)
        keys.transform_keys(&:to_s) if keys.is_a?(Hash)
      end
    end
  end
end
