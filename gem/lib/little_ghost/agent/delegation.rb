# frozen_string_literal: true

module LittleGhost
  class Agent
    # Lets an agent have work done by others: by subagents, which its model creates, talks to and waits for, or by agents
    # and assemblies behind an ordinary tool.
    #
    #   class CustomerSupportAgent < LittleGhost::Agent
    #     subagent ResearchAgent, kind: "research"
    #     agent_as_tool SentimentAgent, name: "classify_sentiment"
    #   end
    #
    # Those that work for an agent have their own instructions and tools, not its. They share the Run: its request
    # settings, deadline and cancellation, and their tokens count. Prompts of theirs also see the agent's prompt locals.
    module Delegation
      autoload :Subagent, "little_ghost/agent/delegation/subagent"
      autoload :ToolDeclaration, "little_ghost/agent/delegation/tool_declaration"
      autoload :ClassMethods, "little_ghost/agent/delegation/class_methods"

      private

      # The kinds of subagents and their bounds, for the engine; nil when there are none.
      def describe_subagents(work, around)
        definitions = subagent_definitions(work.owner)
        return if definitions.empty?

        @delegation_activity ||= Subagents::Activity.new(definitions.map(&:kind))
        kinds = definitions.map do |definition|
          key = work.parts.table.delegate(around) { |part| definition.build(part.agent_path, part.conversation_id, runtime) }
          {"kind" => definition.kind, "description" => definition.description, "persist" => definition.persist, "key" => key}
        end
        {"kinds" => kinds, "limits" => subagent_limits}
      end

      # Bounds that differ from the engine's, by name.
      def subagent_limits
        {"wait_timeout" => self.class.subagent_long_poll_duration}
      end

      # Declared kinds, and of the resolved ones those that are not declared.
      def subagent_definitions(run)
        declared = self.class.declared_subagents.map { |subagent| subagent.definition(self, run) }
        names = declared.map(&:kind)
        resolved = self.class.subagent_resolvers.flat_map { |resolver| resolved_definitions(resolver, run) }
        declared + resolved.reject { |definition| names.include?(definition.kind) }
      end

      def resolved_definitions(resolver, run)
        found = Array(instance_exec(run, &resolver))
        stranger = found.find { |definition| !definition.is_a?(Subagents::Definition) }
        return found if stranger.nil?

        raise ConfigurationError, "the resolver of subagents of #{self.class} must return Subagents::Definition objects, got #{stranger.class}"
      end

      # What is around those who work for this agent.
      def surroundings(work)
        around = work.around
        around.with(locals: around.locals.merge(prompt_locals), enclosing: [].freeze)
      end

      def delegated_tools
        self.class.declared_delegates.map { |declaration| declaration.build(runtime, run) }
      end
    end
  end
end
