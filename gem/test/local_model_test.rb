# frozen_string_literal: true

require "test_helper"
require_relative "support/local_model"

# A real model on loopback answers, calls a tool and streams, over each wire format it has, and takes part in assemblies.
class LocalModelTest < Minitest::Test
  class OrderStatusTool < LittleGhost::Tool
    tool_name "order_status"
    description "Look up the delivery status of an order by its number."
    input_schema(
      type: "object", properties: {order_number: {type: "string"}},
      required: ["order_number"], additionalProperties: false
    )

    def call(input) = "Order #{input.fetch("order_number")} is out for delivery."
  end

  class SupportAgent < LittleGhost::Agent
    description "Knows the status of orders."
    model LocalModel::NAME
    system_prompt "You are a support agent. Use the order_status tool to look up orders."
    tools OrderStatusTool
    limits max_turns: 6, model_settings: {temperature: 0, max_tokens: 200}
  end

  LocalModel::FORMATS.each_key do |format|
    define_method(:"test_tool_call_and_streamed_answer_over_#{format}") do
      agent = SupportAgent.new(runtime: LocalModel.runtime(format))
      events = []
      run = agent.stream_ask("What is the status of order 481?").each { |event| events << event }

      assert_predicate run, :completed?, run.error.inspect
      stop = events.find { |event| event.type == :tool_stop }
      assert_equal "order_status", stop.data[:tool_use].name
      assert_includes stop.data[:result].content, "481"
      assert_includes run.response, "481"
      assert_operator events.count { |event| event.type == :text_delta }, :>, 3
      assert_operator run.usage.total_tokens, :>, 0
    end
  end

  class TriageAgent < LittleGhost::Agent
    description "Sorts requests."
    model LocalModel::NAME
    system_prompt "You sort requests. Answer with one word only: delivery or billing."
    limits model_settings: {temperature: 0, max_tokens: 10}
  end

  class TriageWorkflow < LittleGhost::Workflow
    private

    def perform
      route = invoke(TriageAgent).output
      invoke(route.downcase.include?("delivery") ? SupportAgent : TriageAgent, as: :answer)
    end
  end

  def test_a_triage_workflow
    run = TriageWorkflow.new(runtime: LocalModel.runtime).ask("What is the delivery status of order 481?")
    assert_predicate run, :completed?, run.error.inspect
    assert_includes run.response, "481"
    assert_equal %w[triage answer], run.result.steps.map(&:participant)
    assert_equal SupportAgent.assembly_id, run.result.steps.last.assembly_id
  end

  class FrontDeskAgent < LittleGhost::Agent
    description "Takes every request."
    model LocalModel::NAME
    # A model this small follows an example, hardly a description.
    system_prompt <<~TEXT.chomp
      You are the front desk. You answer nothing yourself. Reply with this call:
      {"name": "handoff_to_agent", "arguments": {"agent_id": "delivery", "message": "Look up order 7."}}
    TEXT
    limits model_settings: {temperature: 0, max_tokens: 100}
  end

  class SupportSwarm < LittleGhost::Swarm
    member FrontDeskAgent
    member SupportAgent, as: :delivery
    start FrontDeskAgent
    handoff FrontDeskAgent, to: [:delivery]
  end

  def test_a_handoff_in_a_swarm
    run = SupportSwarm.new(runtime: LocalModel.runtime).ask("What is the status of order 481?")
    assert_predicate run, :completed?, run.error.inspect
    assert_equal "delivery", run.result.steps.last.participant
    assert_equal "delivery", run.result.steps.first.output[:agent_id]
    assert_includes run.response, "481"
  end

  class OrderTotalTool < LittleGhost::Tool
    tool_name "order_total"
    description "Returns the total of an order, in cents."
    input_schema(type: "object", properties: {number: {type: "integer"}}, required: ["number"], additionalProperties: false)

    def call(input) = input.fetch("number") * 100 + 4
  end

  class ClerkAgent < LittleGhost::Agent
    model LocalModel::NAME
    system_prompt <<~TEXT.chomp
      You only answer by the exec tool. To add 1 to the total of order 7, reply:
      {"name": "exec", "arguments": {"source": "(await tools.order_total({number: 7})) + 1"}}
    TEXT
    tools OrderTotalTool
    # The interpreter of JavaScript has neither files nor network to contain.
    code_mode engine: :javascript, sandbox: :unrestricted
    limits max_turns: 3, model_settings: {temperature: 0, max_tokens: 100}
  end

  def test_a_program_that_the_model_wrote
    events = []
    run = ClerkAgent.new(runtime: LocalModel.runtime).stream_ask("Add 1 to the total of order 48.").each { |event| events << event }
    assert_predicate run, :completed?, run.error.inspect
    called = events.select { |event| event.type == :tool_stop }.map { |event| [event.data[:tool_use].name, event.data[:result].content] }
    assert_equal [["order_total", "4804"]], called
    told = run.result.messages.flat_map(&:content).grep(LittleGhost::Content::ToolResult)
    assert_equal 1, told.length
    assert_includes told.first.content.to_s, '"value":4805'
  end
end
