# frozen_string_literal: true

module LittleGhost
  # One reusable, model-driven behavior: instructions, tools and limits.
  #
  #   class SupportAgent < LittleGhost::Agent
  #     description "Handles support requests"
  #     model "openrouter:openai/gpt-5.6-luna"
  #     system_prompt "Answer customer questions clearly."
  #     tools OrderStatusTool
  #   end
  #
  #   SupportAgent.ask("Why is transfer 481 pending?").response
  #
  # Subclasses inherit every declaration. The class holds what is the same for each request; what
  # belongs to one request is passed with the call and found on its Run. Without a +system_prompt+ or
  # +system_template+, the instructions are <tt>app/prompts/support/system.erb</tt> for +SupportAgent+.
  class Agent < Assembly
    UNSET = Object.new.freeze
    private_constant :UNSET

    autoload :Callbacks, "little_ghost/agent/callbacks"
    autoload :CheckpointStore, "little_ghost/agent/checkpoint_store"
    autoload :ContextManagement, "little_ghost/agent/context_management"
    autoload :Delegation, "little_ghost/agent/delegation"
    autoload :Exchange, "little_ghost/agent/exchange"
    autoload :Invoking, "little_ghost/agent/invoking"
    autoload :Limits, "little_ghost/agent/limits"
    autoload :Prompts, "little_ghost/agent/prompts"
    autoload :Snapshot, "little_ghost/agent/snapshot"
    autoload :StructuredResults, "little_ghost/agent/structured_results"
    autoload :ToolLoop, "little_ghost/agent/tool_loop"

    include Prompts
    include Callbacks
    include StructuredResults
    include ContextManagement
    include ToolLoop
    include Delegation
    include Invoking
    extend Prompts::ClassMethods
    extend Callbacks::ClassMethods
    extend StructuredResults::ClassMethods
    extend ContextManagement::ClassMethods
    extend ToolLoop::ClassMethods
    extend Delegation::ClassMethods
    extend Snapshot

    class << self
      # The stable identifier; see Assembly.assembly_id.
      def agent_id(*value)
        assembly_id(*value)
      end

      def assembly_kind
        :agent
      end

      # As the engine needs it where it takes part in an assembly.
      def describe(table, around = Native::Surroundings.new, overrides = {}) # :nodoc:
        {
          "kind" => "agent", "key" => table.participant(self, around, overrides), "id" => assembly_id,
          "description" => description.to_s
        }
      end

      # Whether telemetry of agents, models and tools may hold content, where the process allows it. Only
      # +true+ does; it is the default.
      def capture_diagnostics(value = UNSET)
        return @capture_diagnostics = value.equal?(true) unless UNSET.equal?(value)
        return @capture_diagnostics unless @capture_diagnostics.nil?

        equal?(Agent) || superclass.capture_diagnostics
      end

      # Lets the model write programs that call the agent's tools, in a process and a sandbox of their own. Tools in
      # +except+ stay in the conversation. +engine+ is a registered name or a CodeMode::Engine; other options are +sandbox+ and
      # +limits+. Each one replaces that of Configuration#code_mode. Raises ArgumentError for other options, and for limits that
      # an engine named beside them does not have; without one, they fail the run as it begins.
      #
      #   code_mode except: ["confirm_tool"], limits: {wall_seconds: 60}
      def code_mode(engine: nil, except: nil, **options)
        @code_mode = CodeMode::Declaration.check({engine: engine, except: except, **options}.compact)
      end

      # Inherited or own declaration of code mode, or nil.
      def code_mode_declaration # :nodoc:
        @code_mode || (superclass.code_mode_declaration unless equal?(Agent))
      end

      # Selects the model: a role, <tt>connection:model-id</tt>, an inline mapping with +provider+, +model+
      # and settings, a provider or model object, or a block that gets the Invocation and returns any of these. Without a
      # selection the default model is used.
      #
      #   model :customer_support
      #   model(provider: "openai", model: "gpt-5.6-luna", reasoning_effort: "high")
      #   model { |invocation| invocation.context["plan"] == "pro" ? :large : :small }
      def model(selection = UNSET, **mapping, &block)
        selection = block if block
        selection = mapping unless mapping.empty?
        return @model = selection unless UNSET.equal?(selection)

        @model || (superclass.model unless equal?(Agent) || @complete)
      end

      # Adds tool classes or provider classes with <tt>tools(binding)</tt>. Declarations add up, also over
      # inheritance. Returns all of them.
      def tools(*values)
        values.flatten.each do |value|
          raise ArgumentError, "tools takes classes, got #{value.inspect}" unless value.is_a?(Module)
        end
        @tools = (@tools || []) + values.flatten unless values.empty?
        return @tools if @complete && @tools

        ((equal?(Agent) ? [] : superclass.tools) + (@tools || [])).freeze
      end

      # Limits of one run: +max_turns+ (100), +max_tool_calls+ (1,000), +max_tool_result_tokens+
      # (10,000) and +model_settings+ ({}). Given ones are merged into those in force; returns all. A
      # limit that makes no sense fails the run with ArgumentError.
      def limits(**values)
        @limits = (@limits || {}).merge(values) unless values.empty?
        return @limits if @complete && @limits

        (equal?(Agent) ? {} : superclass.limits).merge(@limits || {}).freeze
      end
    end

    # Where the agent stands in the tree of those that delegate, such as <tt>"/root"</tt>; nil for an entrypoint.
    attr_reader :agent_path
    # What tracks delegated work, when there are subagents; else nil.
    attr_reader :delegation_activity
    # The tools bound to this agent's Run, or nil for an entrypoint.
    attr_reader :tool_registry
    alias_method :tools, :tool_registry

    # With +runtime+ alone an entrypoint, which makes a Run for every call. With anything else an agent that is
    # itself invoked by #stream, without a Run of its own: +model+ is what the class method takes or a model, +tools+ are
    # tool classes, +run+ is the Run that it works for; further keywords are limits. What is not given is
    # the class's. It has instructions only if its class declares some.
    def initialize(runtime: nil, run: nil, model: nil, tools: nil, workspace: nil, sandbox: nil, agent_path: nil,
      delegation_activity: nil, **limits)
      super(runtime: runtime, run: run, workspace: workspace, sandbox: sandbox)
      @selection = model.nil? ? self.class.model : model
      @agent_path = agent_path || (run && Subagents::AgentPath::ROOT)
      @delegation_activity = delegation_activity
      @built = limits.any? || [run, model, tools, workspace, sandbox, agent_path, delegation_activity].any?
      @limits = Limits.new(self.class.limits.merge(limits)) if @built
      make_ready(tools || self.class.tools) if @built
    end

    # The Model that answers, made when it is first asked for; or the model object that was declared.
    def model
      @model ||= runtime.model_resolver.resolve(selected(run&.invocation), invocation: run&.invocation)
    end

    # The most tool calls that one invocation may make.
    def max_tool_calls
      (@limits || Limits.new(self.class.limits)).max_tool_calls
    end

    # Code mode as this agent has it, or nil.
    def code_mode # :nodoc:
      declared = self.class.code_mode_declaration
      @code_mode ||= CodeMode::Declaration.new(declared, runtime) if declared
    end

    # Closes the tools that the agent owns.
    def close
      @tool_registry&.close
    end

    # Calls the block once #close has something to do, so that no run need wait for another one.
    def when_closable(&told) # :nodoc:
      closes_nothing? ? @tool_registry&.when_closable(&told) : told.call
    end

    # Whether #close has nothing to do but to close tools.
    def closes_nothing? # :nodoc:
      method(:close).owner.equal?(Agent)
    end

    # The agent as the engine needs it, for one invocation.
    def declaration(invocation, locals = {}, work = nil) # :nodoc:
      # A Run has an agent of its own, others choose for each invocation.
      @selected = @model = nil if run.nil? && @selection.is_a?(Proc)
      selection = selected(invocation)
      around = surroundings(work) if work
      {
        "agent_id" => self.class.agent_id,
        "model" => runtime.model_resolver.declare(selection) { Native::ModelDeclaration.of(@model ||= runtime.model_resolver.resolve(selection, invocation: invocation)) },
        "system_prompt" => prompt(invocation, locals).then { |text| text unless text.empty? },
        "tools" => tool_registry.map do |tool|
          next tool.describe(work.parts.table, around) if work && tool.is_a?(AssemblyTool) && tool.joins?(runtime)

          {
            "name" => tool.tool_name, "description" => tool.description,
            "input_schema" => tool.input_schema, "exclusive" => tool.exclusive?
          }
        end,
        "subagents" => work && describe_subagents(work, around),
        "limits" => @limits.to_engine,
        "callbacks" => callback_names.map(&:name),
        "capture_diagnostics" => self.class.capture_diagnostics,
        "result_schema" => self.class.result_schema&.compact,
        "context_management" => self.class.context_management,
        "tool_loop" => self.class.tool_loop,
        "code_mode" => code_mode&.to_engine
      }
    end

    private

    def selected(invocation)
      return @selection unless @selection.is_a?(Proc)

      @selected ||= @selection.call(invocation || raise(ConfigurationError, "#{self.class} chooses its model for each request; ask a Run"))
    end

    # Nobody closes an agent that could not be made: its tools are closed here then.
    def make_ready(declarations)
      @tool_registry = bind_tools(declarations, registry = new_registry)
      initialized
      ready = true
    ensure
      discard(registry) unless ready
    end

    def new_registry
      ToolRegistry.new(binding: Tool::Binding.new(agent: self, run: run, runtime: runtime, workspace: @workspace, sandbox: @sandbox))
    end

    def bind_tools(declarations, registry)
      declarations.each { |declaration| registry.register(declaration, replace: true) }
      registry.register(delegated_tools)
    end

    # What made the agent fail is what its maker has to know.
    def discard(registry)
      registry&.close
    rescue StandardError
      nil
    end
  end
end
