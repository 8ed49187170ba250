# frozen_string_literal: true

module LittleGhost
  module Providers
    # OpenRouter: one key for the models of many vendors.
    #
    #   provider = LittleGhost::Providers::OpenRouter.new(
    #     api_key: ENV.fetch("OPENROUTER_API_KEY"), model: "openai/gpt-5.6-luna", app_name: "Support Console"
    #   )
    #
    # A request that needs a feature is routed only to services that advertise it.
    class OpenRouter < OpenAICompatible
      autoload :CatalogSource, "little_ghost/providers/open_router/catalog_source"

      # The API's address.
      DEFAULT_BASE_URL = "https://openrouter.ai/api/v1/"
      REQUEST_OPTIONS = [*OpenAICompatible.request_options, :app_name].freeze
      FILTERED = %w[temperature top_p max_tokens max_completion_tokens stop seed reasoning reasoning_effort].freeze
      private_constant :REQUEST_OPTIONS, :FILTERED

      class << self
        def request_options
          REQUEST_OPTIONS
        end
      end

      # Takes the options of OpenAICompatible; the format is Chat Completions. +site_url+ and +app_name+ tell
      # OpenRouter who asks.
      def initialize(site_url: nil, app_name: nil, base_url: DEFAULT_BASE_URL, **arguments)
        super(base_url: base_url, **arguments, api: :chat_completions)
        @options = @options.except("api").merge({"site_url" => site_url, "app_name" => app_name}.compact)
      end

      # What +supported_parameters+ of the facts say; unknown without them.
      def capabilities(metadata: {})
        ModelCapabilities.from_details(metadata)
      end

      # +request+ without settings that the model does not take, when the request needs a feature: such a request
      # is only routed to services that honour every setting.
      def prepare_request(request, capabilities:)
        return request if capabilities.supported_parameters.nil?

        settings = renamed(request.settings.to_h.transform_keys(&:to_s), capabilities)
        settings = settings.select { |name, _| taken?(name, capabilities) } unless request.required_capabilities.empty?
        request.with(settings: settings)
      end

      private

      # Newer models only take the newer name of the limit.
      def renamed(settings, capabilities)
        newer = "max_completion_tokens"
        return settings unless settings.key?("max_tokens") && capabilities.supports_parameter?(newer)
        return settings if capabilities.supports_parameter?("max_tokens")

        {newer => settings["max_tokens"], **settings.except("max_tokens")}
      end

      def taken?(name, capabilities)
        !FILTERED.include?(name) || capabilities.supports_parameter?(name, name == "reasoning_effort" ? "reasoning" : name)
      end

      def adapter_name = "openrouter"
    end
  end
end
