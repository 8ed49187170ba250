# frozen_string_literal: true

module LittleGhost
  class Agent
    module Delegation
      # One declared kind of subagent.
      class Subagent < Data.define(:agent, :kind, :description, :model, :tools, :factory, :persist) # :nodoc:
        # For the subagents of +owner+ in +run+.
        def definition(owner, run)
          Subagents::Definition.new(kind: kind, description: description, persist: persist, factory: maker(owner, run))
        end

        private

        def maker(owner, run)
          return custom(run) if factory

          implementation = Assembly::Reference.resolve(agent)
          lambda do |path|
            implementation.new(
              run: run, runtime: owner.runtime, **owner.premises, agent_path: path,
              model: Delegation.chosen(model, run), tools: Delegation.chosen_tools(tools, run)
            )
          end
        end

        def custom(run)
          return ->(path) { factory.call(path, run) } unless Native::Keywords.accepts?(factory, :runtime)

          ->(path, runtime:) { factory.call(path, run, runtime: runtime) }
        end
      end
    end
  end
end
