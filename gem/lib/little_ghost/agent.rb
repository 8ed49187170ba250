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
    autoload :ContextManagement, "little_ghost/agent/context_management"
    autoload :Limits, "little_ghost/agent/limits"
    autoload :Prompts, "little_ghost/agent/prompts"
    autoload :StructuredResults, "little_ghost/agent/structured_results"
    autoload :ToolLoop, "little_ghost/agent/tool_loop"

    include Prompts
    include Callbacks
    include StructuredResults
    include ContextManagement
    include ToolLoop
    extend Prompts::ClassMethods
    extend Callbacks::ClassMethods
    extend StructuredResults::ClassMethods
    extend ContextManagement::ClassMethods
    extend ToolLoop::ClassMethods

    class << self
      # The stable identifier; see Assembly.assembly_id.
      def agent_id(*value)
        assembly_id(*value)
      end

      def assembly_kind
        :agent
      end

      # Whether telemetry of agents, models and tools may hold content, where the process allows it. Only
      # +true+ does; it is the default.
      def capture_diagnostics(value = UNSET)
        return @capture_diagnostics = value.equal?(true) unless UNSET.equal?(value)
        return @capture_diagnostics unless @capture_diagnostics.nil?

        equal?(Agent) || superclass.capture_diagnostics
      end

      # Declares that the agent's tools are called by programs that the model writes. This version has no
      # engine for them: building such an agent raises ConfigurationError.
      def code_mode(engine: nil, except: nil, **options)
        @code_mode = {engine: engine, except: except, **options}.compact
      end

      # Inherited or own declaration of code mode, or nil.
      def code_mode_declaration # :nodoc:
        @code_mode || (superclass.code_mode_declaration unless equal?(Agent))
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
      # (10,000) and +model_settings+ ({}). Given ones are merged into those in force; returns all. A
      # limit that makes no sense fails the run with ArgumentError.
      def limits(**values)
        @limits = (@limits || {}).merge(values) unless values.empty?
        (equal?(Agent) ? {} : superclass.limits).merge(@limits || {}).freeze
      end
    end

    # Where the agent stands in a tree of subagents; nil for an entrypoint.
    attr_reader :agent_path
    # What tracks delegated work, or nil.
    attr_reader :delegation_activity
    # The tools bound to this agent's Run, or nil for an entrypoint.
    attr_reader :tool_registry
    alias_method :tools, :tool_registry

    # An entrypoint, or with +run+ the agent of one run, which only the library makes.
    def initialize(runtime: nil, run: nil, model: nil, tools: nil, workspace: nil, sandbox: nil, agent_path: nil,
      delegation_activity: nil, **limits)
      super()
      @runtime = runtime
      @run = run
      @selection = model
      @workspace = workspace
      @sandbox = sandbox
      @agent_path = agent_path
      @delegation_activity = delegation_activity
      raise ArgumentError, "#{limits.keys.first} is declared on the class: limits #{limits.keys.first}: ..." if run.nil? && limits.any?

      @limits = run && Limits.new(limits)
      @tool_registry = run && bind_tools(tools || self.class.tools)
      initialized if run
    end

    # The Model that answers, made when it is first asked for; or the model object that was declared.
    def model
      @model ||= runtime.model_resolver.resolve(@selection, invocation: run&.invocation)
    end

    # The most tool calls that one invocation may make.
    def max_tool_calls
      (@limits || Limits.new(self.class.limits)).max_tool_calls
    end

    # Streams one invocation as an EventStream, as Assembly#stream_ask. +history+, +context+, +settings+ and
    # +template_paths+ (TrustedPath values) belong to the request; other options are its application fields.
    def stream(input = nil, history: nil, context: nil, cancellation_token: Support::CancellationToken.new, deadline: nil,
      settings: nil, template_locals: nil, template_paths: nil, parent_operation_id: nil, checkpoint: nil,
      conversation_id: nil, interjection_metadata: nil, interjection_ids: [], interject_ready: nil, **options)
      bound = {
        template_locals: template_locals, parent_operation_id: parent_operation_id, checkpoint: checkpoint,
        conversation_id: conversation_id, interjection_metadata: interjection_metadata, interject_ready: interject_ready
      }.compact
      unless bound.empty? && interjection_ids.empty?
        raise ArgumentError, "#{bound.keys.first || :interjection_ids} belongs to an agent inside a run"
      end

      fields = {history: history, context: context, settings: settings, template_paths: template_paths, deadline_at: deadline}
      stream_ask(input, **options, **fields.compact, cancellation_token: cancellation_token)
    end

    # As Run#interject. With +target_operation_id+, says it to the invocation of that operation.
    def interject(message, cancellation_token: Support::CancellationToken.new, deadline: nil, target_operation_id: nil,
      interjection_id: nil, batch_key: nil, metadata: {})
      raise AgentInterjectionError, "this agent is no part of a run; interject through its Run or Execution" if run.nil?

      run.deliver(
        message, interjection_id: interjection_id, batch_key: batch_key, metadata: metadata, cancellation_token: cancellation_token,
        deadline: deadline, target_operation_id: target_operation_id
      )
    end

    # Closes the tools that the agent owns.
    def close
      @tool_registry&.close
    end

    # The agent as the engine needs it.
    def declaration # :nodoc:
      {
        "agent_id" => self.class.agent_id,
        "model" => runtime.model_resolver.declare(@selection) { Native::ModelDeclaration.of(model) },
        "system_prompt" => prompt.then { |text| text unless text.empty? },
        "tools" => tool_registry.map do |tool|
          {
            "name" => tool.tool_name, "description" => tool.description,
            "input_schema" => tool.input_schema, "exclusive" => tool.exclusive?
          }
        end,
        "limits" => @limits.to_engine,
        "callbacks" => callback_names.map(&:name),
        "capture_diagnostics" => self.class.capture_diagnostics,
        "result_schema" => self.class.result_schema&.compact,
        "context_management" => self.class.context_management,
        "tool_loop" => self.class.tool_loop
      }
    end

    private

    def bind_tools(declarations)
      if self.class.code_mode_declaration
        raise ConfigurationError, "#{self.class} declares code_mode, which this version does not have"
      end

      binding = Tool::Binding.new(
        agent: self, run: run, runtime: runtime, workspace: workspace, sandbox: sandbox
      )
      declarations.each_with_object(ToolRegistry.new(binding: binding)) do |declaration, registry|
        registry.register(declaration, replace: true)
      end
    end
  end
end
