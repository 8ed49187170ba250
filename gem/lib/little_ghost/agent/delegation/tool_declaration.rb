# frozen_string_literal: true

module LittleGhost
  class Agent
    module Delegation
      # One declared agent or assembly behind a tool.
      class ToolDeclaration < Data.define(:assembly, :name, :description, :model, :tools, :preserve_context) # :nodoc:
        # The tool for one agent.
        def build(runtime, run)
          implementation = Assembly::Reference.resolve(assembly)
          overrides = {model: Delegation.chosen(model, run), tools: Delegation.chosen_tools(tools, run)}.compact
          AssemblyTool.build(
            implementation.new(runtime: runtime), name: name || Assembly::Reference.id(assembly),
            description: description || implementation.description, preserve_context: preserve_context, overrides: overrides
          )
        end
      end
    end
  end
end
