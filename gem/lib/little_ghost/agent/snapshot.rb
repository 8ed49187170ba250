# frozen_string_literal: true

module LittleGhost
  class Agent
    # Fixed copies of agent classes.
    module Snapshot # :nodoc:
      # A class with what is declared now, which nothing declared later changes, and which takes no declarations.
      def snapshot(id = assembly_id, text = description)
        source = self
        copy = Class.new(self)
        copy.send(:settle, source, id, text)
        copy.freeze
      end

      private

      def settle(source, id, text)
        @assembly_id = id.dup.freeze
        @description = text.dup.freeze
        @model = source.model
        @tools = source.tools
        @limits = source.limits
        @capture_diagnostics = source.capture_diagnostics
        @code_mode = source.code_mode_declaration
        settle_prompts(source)
        @result_schema = source.result_schema
        @context_management = source.context_management
        @tool_loop = source.tool_loop
        @subagents = source.declared_subagents
        @subagent_resolvers = source.subagent_resolvers
        @subagent_long_poll_duration = source.subagent_long_poll_duration
        @delegates = source.declared_delegates
        @all_callbacks = source.callbacks.dup.freeze
        @complete = true
      end

      def settle_prompts(source)
        kind, prompt = source.prompt_source
        @system_prompt = prompt if kind == :inline
        @system_template = prompt if kind == :template
        @prompt_source = [kind, prompt].freeze
        @prompt_locals = source.declared_prompt_locals
      end
    end
  end
end
