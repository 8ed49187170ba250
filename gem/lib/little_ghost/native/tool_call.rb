# frozen_string_literal: true

module LittleGhost
  module Native
    # One tool call of the model: a copy of the bound Tool with a context of its own.
    class ToolCall # :nodoc:
      def initialize(run, payload, token)
        @run = run
        @agent = run.entrypoint
        @payload = payload
        @token = token
      end

      # Tells user code that nobody waits for its answer any more.
      def cancel
        @token.cancel
      end

      # The tool's value.
      def perform
        tool = @agent.tool_registry.fetch(@payload["name"]).dup
        tool.context = @run.tool_context(@token, @payload["operation_id"])
        value = tool.call(DataMap.new(@payload["input"]))
        artifacts = nil
        value, artifacts = value.value, value.artifacts if value.is_a?(Tool::Result)
        @run.tool_values.keep(@payload["tool_use_id"], value, artifacts) if @agent.callback?(:after_tool)
        value
      end
    end
  end
end
