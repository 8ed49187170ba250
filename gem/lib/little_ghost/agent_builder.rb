# frozen_string_literal: true

module LittleGhost
  # Builds agents that are declared while the application runs, with the calls of an Agent class.
  #
  #   agent = LittleGhost::AgentBuilder.new(id: "customer_support")
  #   agent.model "openrouter:openai/gpt-5.6-luna"
  #   agent.system_prompt "Answer customer questions clearly."
  #   agent.ask("Where is my order?")
  #
  # A declaration returns the builder; without arguments it is read. Changing the builder changes agents that are
  # built later.
  class AgentBuilder < AssemblyBuilder
    # What an Agent class declares, and so does a builder.
    DECLARATIONS = %i[
      agent_id capture_diagnostics limits model prompt_local system_prompt system_template tools
      after_initialize before_invocation after_invocation before_model after_model after_model_error before_tool after_tool
      result_schema manage_context detect_tool_loops
      subagent subagents subagent_long_poll_duration agent_as_tool agents_as_tools assembly_as_tool assemblies_as_tools
    ].freeze
    private_constant :DECLARATIONS

    DECLARATIONS.each do |name|
      define_method(name) do |*arguments, **options, &block|
        value = @prototype.public_send(name, *arguments, **options, &block)
        (arguments.any? || options.any? || block) ? self : value
      end
    end

    # As Agent.code_mode. Returns the builder.
    def code_mode(engine: nil, except: nil, **options)
      @prototype.code_mode(engine: engine, except: except, **options)
      self
    end

    private

    def default_base
      Agent
    end
  end
end
