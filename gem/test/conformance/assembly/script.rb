# frozen_string_literal: true

module Conformance
  module Assembly
    # The answers of a case, as the scripted server takes them.
    module Script
      class << self
        def exchanges(test_case)
          test_case["answers"].flat_map do |id, answers|
            prompt = test_case["agents"].fetch(id)["system_prompt"] || "You are #{id}."
            answers.map { |answer| {"match" => {"body_contains" => prompt}}.merge(exchange(answer)) }
          end
        end

        private

        # A text, a status, tool calls, a handoff, or an exchange as it is.
        def exchange(answer)
          return {"chat" => {"text" => answer}} if answer.is_a?(String) || answer.is_a?(Array)
          return {"status" => answer["fails"], "body" => {"error" => {"message" => "refused"}}} if answer.key?("fails")
          return calls(answer["calls"]) if answer.key?("calls")
          return answer unless answer.key?("handoff")

          to, message, context = answer["handoff"]
          input = {"agent_id" => to, "message" => message, "context" => context}.compact
          calls([["handoff_to_agent", input]], answer["text"])
        end

        def calls(list, text = nil)
          calls = list.each_with_index.map { |(name, input), place| {"id" => "call_#{place + 1}", "name" => name, "arguments" => input} }
          {"chat" => {"text" => text, "tool_calls" => calls}.compact}
        end
      end
    end
  end
end
