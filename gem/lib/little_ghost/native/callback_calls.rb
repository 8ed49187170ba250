# frozen_string_literal: true

module LittleGhost
  module Native
    # Runs an agent's callbacks when the engine comes to them: plain data becomes value objects, and the decision
    # becomes plain data.
    class CallbackCalls # :nodoc:
      def initialize(run, exceptions)
        @run = run
        @exceptions = exceptions
      end

      # The engine's answer: nil to continue, or a Hash with +replace+ or +cancel+.
      def call(payload)
        name = payload["name"].to_sym
        context = @run.tool_context(@run.cancellation_token, payload["parent_operation_id"])
        values = values(name, payload)
        note_result(context, values[:result]) if name == :after_invocation
        decision = @run.entrypoint.run_callback(name, values, context: context)
        return if decision.continue?
        return {"cancel" => decision.reason&.to_s} if decision.cancel?

        {"replace" => replacement(name, decision.value, values)}
      end

      private

      def values(name, payload)
        case name
        when :before_invocation then {messages: payload["messages"].map { |message| Message.build(message) }}
        when :after_invocation then {result: EventBuilder.run_result(payload["result"], @run.shared_state)}
        when :before_model then {request: request(payload), **place(payload)}
        when :after_model then {request: request(payload), response: ModelValues.response(payload["response"]), turn: payload["turn"]}
        when :after_model_error then {request: request(payload), error: @exceptions.fetch(payload["error"]), **place(payload)}
        when :before_tool then tool(payload)
        when :after_tool then {**tool(payload), result: outcome(payload)}
        else raise Error, "the engine asked for the callback #{name}; the gem and its native library do not fit together"
        end
      end

      def note_result(context, result)
        context.submit_structured_result(result.structured_result) if result.structured?
      end

      def request(payload)
        ModelValues.request(payload["request"], cancellation_token: @run.cancellation_token)
      end

      def place(payload)
        {turn: payload["turn"], parent_operation_id: payload["parent_operation_id"]}
      end

      def tool(payload)
        tool_use = Content.build(payload["tool_use"])
        {
          tool_use: tool_use, tool: @run.entrypoint.tool_registry.find { |tool| tool.tool_name == tool_use.name },
          operation_id: payload["operation_id"], parent_operation_id: payload["parent_operation_id"]
        }
      end

      def outcome(payload)
        result = payload["result"]
        value, artifacts = @run.tool_values.delete(payload["tool_use"]["id"])
        Tool::Outcome.new(
          value: value, content: content(result["content"]), status: result["status"].to_sym,
          error: @exceptions.fetch(result["error"]), artifacts: artifacts || [].freeze
        )
      end

      def content(content)
        content.is_a?(Array) ? content.map { |block| Content.build(block) } : content
      end

      def replacement(name, value, before)
        case name
        when :before_invocation then {"messages" => ModelValues.messages(value.fetch(:messages))}
        when :after_invocation then {"result" => ModelValues.plain_result(value.fetch(:result))}
        when :after_model then {"response" => ModelValues.plain_response(value.fetch(:response))}
        when :after_tool then {"result" => ToolReplacement.plain(value.fetch(:result), before.fetch(:result))}
        when :before_tool then {}
        else {"request" => ModelValues.plain_request(value.fetch(:request))}
        end
      end
    end
  end
end
