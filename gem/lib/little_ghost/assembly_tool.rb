# frozen_string_literal: true

module LittleGhost
  # Makes an assembly callable by a model. Each call is a Run of its own, inside the call of the tool.
  class AssemblyTool < Tool # :nodoc:
    tool_name "assembly"
    description "Asks another assembly."
    input_schema type: "object", properties: {input: {type: "string", description: "What it is asked."}}, required: ["input"],
      additionalProperties: false

    # A bound tool for +assembly+, a standalone entrypoint.
    def self.build(assembly, name:, description:, preserve_context:)
      described = description || "Delegate a task to #{name} and get its answer."
      Class.new(self) do
        tool_name name
        description described
      end.new(binding: Binding.new).tap { |tool| tool.serve(assembly, preserve_context) }
    end

    def serve(assembly, preserve_context)
      @assembly = assembly
      @conversation = preserve_context ? Conversation.new : nil
    end

    def call(input)
      return ask(input, []).output if @conversation.nil?

      @conversation.continue { |history| ask(input, history) }.output
    end

    private

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
