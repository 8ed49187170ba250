# frozen_string_literal: true

module LittleGhost
  # Connections to model services. Agents select them through the configuration of models; a provider
  # may also be used on its own.
  module Providers
    autoload :Anthropic, "little_ghost/providers/anthropic"
    autoload :Base, "little_ghost/providers/base"
    autoload :Bedrock, "little_ghost/providers/bedrock"
    autoload :Configuration, "little_ghost/providers/configuration"
    autoload :Engine, "little_ghost/providers/engine"
    autoload :Gemini, "little_ghost/providers/gemini"
    autoload :OpenAI, "little_ghost/providers/openai"
    autoload :OpenAICompatible, "little_ghost/providers/openai_compatible"
    autoload :OpenRouter, "little_ghost/providers/open_router"
    autoload :VertexAI, "little_ghost/providers/vertex_ai"
    private_constant :Engine
  end
end
