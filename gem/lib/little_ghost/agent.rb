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
  # belongs to one request is passed with the call and found on its Run.
  class Agent < Assembly
    UNSET = Object.new.freeze
    DEFAULT_PROMPT = "You are a helpful assistant."
    private_constant :UNSET, :DEFAULT_PROMPT

    class << self
      # The stable identifier; see Assembly.assembly_id.
      def agent_id(*value)
        assembly_id(*value)
      end

      def assembly_kind
        :agent
      end

      # The underscored name with its namespaces, where prompts are looked up.
      def logical_path
        return superclass.logical_path if name.nil?

        Native::Naming.underscore(name.delete_suffix("Agent").then { |stem| stem.empty? || stem.end_with?("::") ? name : stem })
      end

      # Selects the model: a role, <tt>connection:model-id</tt>, an inline mapping with +provider+, +model+
      # and settings, or a block that gets the Invocation and returns any of these. Without a
      # selection the default model is used.
      #
      #   model :customer_support
      #   model(provider: "openai", model: "gpt-5.6-luna", reasoning_effort: "high")
      #   model { |invocation| invocation.context["plan"] == "pro" ? :large : :small }
      def model(selection = UNSET, **mapping, &block)
        selection = block if block
        selection = mapping unless mapping.empty?
        return @model = selection unless UNSET.equal?(selection)

        @model || (superclass.model unless equal?(Agent))
      end

      # The instructions: a String, or a block that gets the locals +invocation+, +run+ and +agent+ as a
      # Hash and returns the text.
      def system_prompt(value = UNSET, &block)
        value = block if block
        return @system_prompt = value unless UNSET.equal?(value)
        return @system_prompt if @system_prompt

        equal?(Agent) ? nil : superclass.system_prompt
      end

      # Adds tool classes or provider classes with <tt>tools(binding)</tt>. Declarations add up, also over
      # inheritance. Returns all of them.
      def tools(*values)
        values.flatten.each do |value|
          raise ArgumentError, "tools takes classes, got #{value.inspect}" unless value.is_a?(Module)
        end
        @tools = (@tools || []) + values.flatten unless values.empty?
        ((equal?(Agent) ? [] : superclass.tools) + (@tools || [])).freeze
      end

      # Limits of one run: +max_turns+ (100), +max_tool_calls+ (1,000), +max_tool_result_tokens+
      # (10,000) and +model_settings+ ({}). Given ones are merged into those in force; returns all.
      def limits(**values)
        @limits = (@limits || {}).merge(values) unless values.empty?
        (equal?(Agent) ? {} : superclass.limits).merge(@limits || {}).freeze
      end
    end

    # The model selection: a role, a target, a mapping, or nil for the default.
    attr_reader :model
    # The tools bound to this agent's Run, or nil for an entrypoint.
    attr_reader :tool_registry
    alias_method :tools, :tool_registry

    # An entrypoint, or with +run+ the agent of one run, which only the library makes.
    def initialize(runtime: nil, run: nil, model: nil, tools: nil, workspace: nil, sandbox: nil)
      super()
      @runtime = runtime
      @run = run
      @model = model
      @workspace = workspace
      @sandbox = sandbox
      @tool_registry = run && bind_tools(tools || self.class.tools)
    end

    # The most tool calls that one invocation may make.
    def max_tool_calls
      self.class.limits.fetch(:max_tool_calls, 1_000)
    end

    # Closes the tools that the agent owns.
    def close
      @tool_registry&.close
    end

    # The agent as the engine needs it.
    def declaration # :nodoc:
      {
        "agent_id" => self.class.agent_id,
        "model" => model,
        "system_prompt" => prompt,
        "tools" => tool_registry.map do |tool|
          {
            "name" => tool.tool_name, "description" => tool.description,
            "input_schema" => tool.input_schema, "exclusive" => tool.exclusive?
          }
        end,
        "limits" => self.class.limits
      }
    end

    private

    def bind_tools(declarations)
      binding = Tool::Binding.new(
        agent: self, run: run, runtime: runtime, model: model, workspace: workspace, sandbox: sandbox
      )
      declarations.each_with_object(ToolRegistry.new(binding: binding)) do |declaration, registry|
        registry.register(declaration, replace: true)
      end
    end

    def prompt
      value = self.class.system_prompt
      value = value.call({invocation: run.invocation, run: run, agent: self}) if value.is_a?(Proc)
      value = DEFAULT_PROMPT if value.nil? && instance_of?(Agent)
      value&.to_s
    end
  end
end
