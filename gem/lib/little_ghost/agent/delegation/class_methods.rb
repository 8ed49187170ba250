# frozen_string_literal: true

module LittleGhost
  class Agent
    # What is said in agent/delegation.rb.
    module Delegation
      class << self
        # +model+ itself, or what it chooses for +run+.
        def chosen(model, run) # :nodoc:
          model.is_a?(Proc) ? model.call(run) : model
        end

        # The Tool classes that override the agent's own, or nil.
        def chosen_tools(tools, run) # :nodoc:
          found = chosen(tools, run)
          return if found.nil?

          Array(found).each { |tool| raise ConfigurationError, "tool overrides must be classes, got #{tool.inspect}" unless tool.is_a?(Module) }
        end
      end

      # What agent classes declare. Declarations add up, also over inheritance.
      module ClassMethods
        # Lets the model delegate to +agent_class+, an Agent class, builder or definition. +kind+ is what the model asks for;
        # it defaults to the agent id, and +description+ to the agent's. +model+ and +tools+ (classes) override the agent's
        # own; either may be a Proc that gets the Run. +factory+ makes the agents instead: it gets the path of the subagent and
        # the Run and, if it takes it, +runtime:+, and must return an Agent with that +agent_path+.
        #
        # Conversations are kept with the Session of the Run, for later runs of it, unless +persist+ is false. Raises
        # ArgumentError for a kind that there is already.
        #
        #   subagent ResearchAgent, kind: "research"
        def subagent(agent_class, kind: nil, description: nil, model: nil, tools: nil, factory: nil, persist: true)
          agent!(agent_class)
          name = (kind || Assembly::Reference.id(agent_class)).to_s
          raise ArgumentError, "a kind of subagent needs a name" if name.strip.empty?
          raise ArgumentError, "there is already a kind of subagent called #{name.inspect}; give one of them another kind" if declared_subagents.any? { |other| other.kind == name }
          raise ArgumentError, "persist must be true or false, got #{persist.inspect}" unless persist == true || persist == false
          raise ArgumentError, "factory must respond to call, got #{factory.class}" unless factory.nil? || factory.respond_to?(:call)

          tool_classes!(tools)
          added = Subagent.new(
            agent: agent_class, kind: name, description: (description || agent_class.description).to_s, model: model, tools: tools,
            factory: factory, persist: persist
          )
          @subagents = [*@subagents, added].freeze
          self
        end

        # Declares several kinds with the same +options+. A block gives more of them in each run: it gets the Run and returns
        # Subagents::Definition objects. What is declared wins over what it returns.
        def subagents(*agent_classes, **options, &resolver)
          agent_classes.flatten.each { |agent_class| subagent(agent_class, **options) }
          @subagent_resolvers = [*@subagent_resolvers, resolver].freeze if resolver
          self
        end

        # How many seconds the tool +wait_for_subagents+ watches before it says that they are still working; sets it with an
        # argument. 30.0 unless assigned. Raises ArgumentError for anything but a positive finite number.
        def subagent_long_poll_duration(seconds = UNSET)
          unless UNSET.equal?(seconds)
            unless seconds.is_a?(Numeric) && seconds.real? && seconds.to_f.finite? && seconds.positive?
              raise ArgumentError, "subagent_long_poll_duration must be a positive number of seconds, got #{seconds.inspect}"
            end

            return @subagent_long_poll_duration = seconds.to_f
          end
          @subagent_long_poll_duration || (equal?(Agent) ? Subagents::Manager::DEFAULT_WAIT_TIMEOUT : superclass.subagent_long_poll_duration)
        end

        # Offers +agent_class+ as a tool with the input <tt>{input: String}</tt>. Each call starts with an empty history, or
        # with +preserve_context+ goes on from the one before. +model+ and +tools+ are as for #subagent.
        def agent_as_tool(agent_class, name: nil, description: nil, model: nil, tools: nil, preserve_context: false)
          agent!(agent_class)
          assembly_as_tool(agent_class, name: name, description: description, model: model, tools: tools, preserve_context: preserve_context)
        end

        # Offers several agents as tools, with the same +options+.
        def agents_as_tools(*agent_classes, **options)
          agent_classes.flatten.each { |agent_class| agent_as_tool(agent_class, **options) }
          self
        end

        # Offers an Agent, Workflow, Swarm or Graph as a tool, as #agent_as_tool. Raises ArgumentError for +model+ or
        # +tools+ of anything but an Agent.
        def assembly_as_tool(assembly_class, name: nil, description: nil, model: nil, tools: nil, preserve_context: false)
          Assembly::Reference.check(assembly_class)
          kind = Assembly::Reference.kind(assembly_class)
          raise ArgumentError, "model and tools are for agents, not for a #{kind}" unless kind == :agent || (model.nil? && tools.nil?)

          tool_classes!(tools)
          added = ToolDeclaration.new(
            assembly: assembly_class, name: name&.to_s, description: description, model: model, tools: tools,
            preserve_context: preserve_context ? true : false
          )
          @delegates = [*@delegates, added].freeze
          self
        end

        # Offers several assemblies as tools, with the same +options+.
        def assemblies_as_tools(*assembly_classes, **options)
          assembly_classes.flatten.each { |assembly_class| assembly_as_tool(assembly_class, **options) }
          self
        end

        # Inherited and own kinds of subagents.
        def declared_subagents # :nodoc:
          with_inherited(:declared_subagents, @subagents)
        end

        # Inherited and own resolvers.
        def subagent_resolvers # :nodoc:
          with_inherited(:subagent_resolvers, @subagent_resolvers)
        end

        # Inherited and own tools that ask others.
        def declared_delegates # :nodoc:
          with_inherited(:declared_delegates, @delegates)
        end

        private

        def with_inherited(name, own)
          return own || [].freeze if equal?(Agent) || @complete

          (superclass.public_send(name) + (own || [])).freeze
        end

        def agent!(reference)
          Assembly::Reference.check(reference)
          kind = Assembly::Reference.kind(reference)
          raise ArgumentError, "expected an agent, got the #{kind} #{Assembly::Reference.id(reference)}" unless kind == :agent
        end

        def tool_classes!(tools)
          return if tools.nil? || tools.is_a?(Proc)

          Array(tools).each { |tool| raise ArgumentError, "tool overrides must be classes, got #{tool.inspect}" unless tool.is_a?(Module) }
        end
      end
    end
  end
end
