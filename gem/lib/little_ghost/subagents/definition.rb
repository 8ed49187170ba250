# frozen_string_literal: true

module LittleGhost
  module Subagents
    # One kind of agent that a model may delegate to. Agent::Delegation::ClassMethods#subagent makes them; a resolver
    # of Agent::Delegation::ClassMethods#subagents returns them.
    #
    #   definition = LittleGhost::Subagents::Definition.new(
    #     kind: "research",
    #     description: "Investigates a bounded question",
    #     factory: ->(agent_path) { ResearchAgent.new(agent_path:) }
    #   )
    #
    # The factory is asked for every turn. It gets the path of the subagent and, where it takes them, +runtime:+ and, as
    # second argument with +accepts_conversation_id+, the UUID of the conversation. The Agent that it returns must have been
    # made with that path as +agent_path+, and is closed after the turn.
    class Definition
      # Whether the factory gets the UUID of the conversation as second argument.
      attr_reader :accepts_conversation_id
      # What the model reads about the kind.
      attr_reader :description
      # What makes an agent.
      attr_reader :factory
      # The name that the model asks for.
      attr_reader :kind
      # Whether later runs of the same session may go on with its conversations.
      attr_reader :persist

      # Raises ArgumentError for what no manager could use.
      def initialize(kind:, description:, factory:, persist: true, accepts_conversation_id: false)
        @kind = text(:kind, kind)
        raise ArgumentError, "a kind of subagent needs a name" if @kind.strip.empty?

        @description = text(:description, description)
        raise ArgumentError, "the factory of a subagent must respond to call, got #{factory.class}" unless factory.respond_to?(:call)

        @factory = factory
        @persist = flag(:persist, persist)
        @accepts_conversation_id = flag(:accepts_conversation_id, accepts_conversation_id)
        freeze
      end

      # The agent for one turn. Raises ConfigurationError when the factory makes something else.
      def build(path, conversation_id, runtime) # :nodoc:
        arguments = accepts_conversation_id ? [path, conversation_id] : [path]
        agent = Native::Keywords.accepts?(factory, :runtime) ? factory.call(*arguments, runtime: runtime) : factory.call(*arguments)
        return agent if agent.is_a?(Agent) && agent.agent_path == path
        raise ConfigurationError, "the factory of the subagent #{kind.inspect} must return an Agent, got #{agent.class}" unless agent.is_a?(Agent)

        raise ConfigurationError, "the factory of the subagent #{kind.inspect} must make its Agent with agent_path: #{path.inspect}, " \
          "got #{agent.agent_path.inspect}"
      end

      private

      def text(name, value)
        return value.to_s.dup.freeze if value.is_a?(String) || value.is_a?(Symbol) || (name == :description && value.nil?)

        raise ArgumentError, "#{name} of a subagent must be a String, got #{value.inspect}"
      end

      def flag(name, value)
        return value if value == true || value == false

        raise ArgumentError, "#{name} must be true or false, got #{value.inspect}"
      end
    end
  end
end
