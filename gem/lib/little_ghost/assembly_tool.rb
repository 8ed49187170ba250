# frozen_string_literal: true

module LittleGhost
  # Makes an assembly callable by a model. In a run, the engine has it answer as a participant of that run; #call is for
  # code that uses the tool by itself, where each call is a Run of its own.
  class AssemblyTool < Tool # :nodoc:
    tool_name "assembly"
    description "Asks another assembly."
    input_schema type: "object", properties: {input: {type: "string", description: "What it is asked."}}, required: ["input"],
      additionalProperties: false

    # A bound tool for +assembly+, an object. +overrides+ are what its agent is built with besides.
    def self.build(assembly, name:, description:, preserve_context:, overrides: {})
      described = description || "Delegate a task to #{name} and get its answer."
      Class.new(self) do
        tool_name name
        description described
      end.new(binding: Binding.new).tap { |tool| tool.serve(assembly, preserve_context, overrides) }
    end

    def serve(assembly, preserve_context, overrides)
      @assembly = assembly
      @overrides = overrides
      @preserve_context = preserve_context
      @conversation = preserve_context ? Conversation.new : nil
    end

    # Whether the assembly can answer as a participant: one with another Runtime answers in a Run of its own.
    def joins?(runtime)
      @assembly.run || @assembly.runtime.equal?(runtime)
    end

    # The tool as the engine needs it.
    def describe(table, around)
      {
        "name" => tool_name, "description" => description, "preserve_context" => @preserve_context ? true : false,
        "assembly" => participant(table, around)
      }
    end

    def call(input)
      return ask(input, []).output if @conversation.nil?

      @conversation.continue { |history| ask(input, history) }.output
    end

    private

    def participant(table, around)
      implementation = @assembly.class
      return implementation.describe(table, around) unless implementation <= Agent
      return implementation.describe(table, around, @overrides) unless @assembly.run

      implementation.describe(table, around).merge("key" => table.kept(@assembly, around))
    end

    def ask(input, history)
      token = Support::CancellationToken.new(parent: context.cancellation_token)
      run = @assembly.ask(
        input.fetch("input"), history: history, context: context.state.to_h, deadline_at: context.deadline,
        cancellation_token: token
      )
      return run.result if run.completed?

      context.check!
      raise ToolError, "#{tool_name} did not finish: #{run.error.class}"
    end

    # What was said so far; calls take turns.
    class Conversation
      def initialize
        @history = []
        @lock = Mutex.new
      end

      def continue
        @lock.synchronize do
          result = yield @history
          @history = result.messages.reject { |message| message.role == :system }
          result
        end
      end
    end
    private_constant :Conversation
  end
end
