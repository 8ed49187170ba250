# frozen_string_literal: true

module LittleGhost
  module Providers
    # OpenAI, by the Responses API unless +api+ is +:chat_completions+.
    #
    #   provider = LittleGhost::Providers::OpenAI.new(api_key: ENV.fetch("OPENAI_API_KEY"), model: "gpt-5.6-luna")
    class OpenAI < OpenAICompatible
      # The API's address.
      DEFAULT_BASE_URL = "https://api.openai.com/v1/"

      # Takes the options of OpenAICompatible.
      def initialize(base_url: DEFAULT_BASE_URL, **arguments)
        super
      end

      private

      def adapter_name = "openai"
    end
  end
end
