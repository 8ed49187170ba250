# frozen_string_literal: true

require_relative "../../test_helper"

class AgentCallbacksTest < Minitest::Test
  include ScriptedRuns

  Callbacks = LittleGhost::Support::Callbacks

  def test_all_seven_in_order
    seen = []
    echo = define_tool("echo", text: {type: "string"}) { |input| {said: input["text"]} }
    agent = agent_for(script(tool_calls(["echo", {text: "a"}]), {chat: {text: "done"}}), echo) do
      %i[before_invocation after_invocation before_model after_model before_tool after_tool].each do |event|
        public_send(event) { |payload, context:| seen << [event, payload.keys, self.class.agent_id, context.class] }
      end
      after_initialize { |agent| seen << [:after_initialize, agent.equal?(self)] }
    end
    run = agent.ask("hi")
    assert_predicate run, :completed?, run.error.inspect
    assert_equal [:after_initialize, true], seen.shift
    assert_equal %i[before_invocation before_model after_model before_tool after_tool before_model after_model after_invocation], seen.map(&:first)
    assert_equal ["tester", LittleGhost::RunContext], seen.map { |entry| entry[2..] }.uniq.flatten
    keys = seen.to_h { |event, names| [event, names] }
    assert_equal({
      before_invocation: %i[messages], after_invocation: %i[result], before_model: %i[request turn parent_operation_id],
      after_model: %i[request response turn], before_tool: %i[tool_use tool operation_id parent_operation_id],
      after_tool: %i[tool_use tool operation_id parent_operation_id result]
    }, keys)
  end

  def test_values_are_value_objects
    seen = {}
    echo = define_tool("echo", text: {type: "string"}) { |input| {said: input["text"]} }
    agent = agent_for(script(tool_calls(["echo", {text: "a"}]), {chat: {text: "done"}}), echo) do
      before_model { |payload| seen[:request] ||= payload[:request] }
      after_model { |payload| seen[:response] = payload[:response] }
      after_tool { |payload| seen[:tool] = payload.values_at(:tool_use, :tool, :result) }
      after_invocation { |payload| seen[:result] = payload[:result] }
    end
    agent.ask("hi", settings: {temperature: 0.5}, context: {plan: "pro"})
    request = seen[:request]
    assert_equal ["Be brief.", "hi"], request.messages.map(&:text)
    assert_equal [0.5, "echo", nil], [request.settings[:temperature], request.tools.first[:name], request.output_schema]
    assert_equal ["done", :end_turn], [seen[:response].message.text, seen[:response].stop_reason]
    tool_use, tool, result = seen[:tool]
    assert_equal ["echo", "echo", {said: "a"}, '{"said":"a"}', :success, nil],
      [tool_use.name, tool.tool_name, result.value, result.content, result.status, result.error]
    assert_equal ["done", "pro"], [seen[:result].text, seen[:result].state[:plan]]
  end

  def test_replacing
    scenario = script(tool_calls(["echo", {text: "secret"}]), {chat: {text: "done"}})
    echo = define_tool("echo", text: {type: "string"}) { |input| input["text"] }
    agent = agent_for(scenario, echo) do
      before_invocation { |payload| Callbacks.replace(messages: payload[:messages] + [LittleGhost::Message.new(role: :user, content: "and more")]) }
      before_model { |payload| Callbacks.replace(payload[:request].with(settings: payload[:request].settings.merge(temperature: 0.25))) }
      after_tool { |payload| Callbacks.replace(result: payload[:result].with(content: "[hidden]")) }
      after_model do |payload|
        next if payload[:turn].zero?

        Callbacks.replace(response: payload[:response].with(message: LittleGhost::Message.new(role: :assistant, content: "replaced")))
      end
      after_invocation { |payload| Callbacks.replace(result: payload[:result].with(stop_reason: :reviewed)) }
    end
    run = agent.ask("hi")
    assert_equal ["replaced", :reviewed], [run.response, run.result.stop_reason], run.error.inspect
    first, second = scenario.requests
    assert_equal [["Be brief.", "hi", "and more"], 0.25], [texts(first), first["body"]["temperature"]]
    assert_equal "[hidden]", texts(second).last
  end

  def test_other_replacements_of_tool_results
    {
      {value: {a: 1}} => '{"a":1}', {content: "text", status: :error} => "text", 7 => "7"
    }.each_pair do |replacement, content|
      scenario = script(tool_calls(["echo", {}]), {chat: {text: "done"}})
      agent = agent_for(scenario, define_tool("echo") { "original" }) { after_tool { Callbacks.replace(result: replacement) } }
      run = agent.ask("hi")
      assert_predicate run, :completed?, run.error.inspect
      assert_equal content, texts(scenario.requests.last).last
    end
  end

  def test_a_tool_error_is_offered
    problem = LittleGhost::ToolError.new("not today")
    seen = nil
    scenario = script(tool_calls(["fails", {}]), {chat: {text: "done"}})
    agent_for(scenario, define_tool("fails") { raise problem }) { after_tool { |payload| seen = payload[:result] } }.ask("hi")
    assert_equal [:error, "not today", nil], [seen.status, seen.content, seen.value]
    assert_same problem, seen.error
  end

  def test_cancelling
    run = agent_for(script({chat: {text: "a"}})) { before_model { Callbacks.cancel("over budget") } }.ask("hi")
    assert_equal ["cancelled", "over budget"], [run.outcome, run.error.message]
    ran = false
    scenario = script(tool_calls(["delete", {}]), {chat: {text: "done"}})
    run = agent_for(scenario, define_tool("delete") { ran = true }) { before_tool :refuse; define_method(:refuse) { |payload| Callbacks.cancel("#{payload[:tool].tool_name} needs a person") } }.ask("hi")
    assert_equal [true, false, "delete needs a person"], [run.completed?, ran, texts(scenario.requests.last).last]
  end

  def test_recovering_from_model_errors
    scenario = script({status: 400, body: {error: {message: "no"}}}, {chat: {text: "recovered"}})
    errors = []
    run = agent_for(scenario) { after_model_error { |payload| errors << payload[:error]; Callbacks.replace(request: payload[:request]) } }.ask("hi")
    assert_equal "recovered", run.response
    assert_equal [LittleGhost::Providers::HTTPError], errors.map(&:class)
  end

  def test_the_context_of_a_call_counts_the_runs_usage
    totals = []
    look = define_tool("look") { |_input, context:| totals << context.usage.total_tokens }
    run = agent_for(script(tool_calls(["look", {}]), {chat: {text: "done"}}), look) do
      after_invocation { |_payload, context:| totals << context.usage.total_tokens }
    end.ask("hi")
    assert_equal [run.usage.total_tokens / 2, run.usage.total_tokens], totals
  end

  def test_an_exception_fails_the_run_and_keeps_its_identity
    problem = KeyError.new("mine")
    run = agent_for(script({chat: {text: "a"}})) { after_model { raise problem } }.ask("hi")
    assert_predicate run, :failed?
    assert_same problem, run.error
  end

  def test_replacements_of_the_wrong_kind
    run = agent_for(script({chat: {text: "a"}})) { before_model { Callbacks.replace(request: "text") } }.ask("hi")
    assert_instance_of ArgumentError, run.error
    assert_match(/ModelRequest/, run.error.message)
  end

  def test_inheritance_and_order
    order = []
    parent = agent_class { before_model { order << :parent } }
    child = Class.new(parent) do
      before_model { order << :child }
      before_model(prepend: true) { order << :first }
    end
    child.new(runtime: runtime_for(script({chat: {text: "a"}}))).ask("hi")
    assert_equal %i[first parent child], order
    order.clear
    parent.new(runtime: runtime_for(script({chat: {text: "a"}}))).ask("hi")
    assert_equal %i[parent], order
  end

  def test_messages_are_replaced_by_messages
    [5, "text", {messages: nil}].each do |garbage|
      run = agent_for(script({chat: {text: "a"}}, cycle: true)) { before_invocation { Callbacks.replace(garbage) } }.ask("hi")
      assert_instance_of ArgumentError, run.error
      assert_match(/Array of Messages/, run.error.message)
    end
  end

  def test_a_tool_value_is_replaced_by_data_without_json_in_the_application
    program = <<~'RUBY'
      require "little_ghost/testing"
      abort "json is loaded" if defined?(JSON)
      echo = LittleGhost::Tool.define(name: "echo", description: "Echoes.", input_schema: {type: "object"}) { "old" }
      scripted = LittleGhost::Testing::ScriptedModel.new({tool: "echo", input: {}}, "done")
      agent = Class.new(LittleGhost::Agent) do
        system_prompt "s"
        model scripted
        tools echo
        after_tool { LittleGhost::Support::Callbacks.replace(result: {value: {new: 1}}) }
      end
      run = agent.ask("hi")
      print run.outcome, " ", scripted.requests.last.messages.last.content.first.content
    RUBY
    library = File.expand_path("../../../lib", __dir__)
    assert_equal 'completed {"new":1}', IO.popen([RbConfig.ruby, "-I#{library}", "-e", program], err: [:child, :out], &:read)
  end

  def test_what_is_declared_later_counts
    parent = Class.new(LittleGhost::Agent)
    child = Class.new(parent)
    refute child.callbacks.any?(:before_tool)
    parent.before_tool {}
    assert child.callbacks.any?(:before_tool)
    refute LittleGhost::Agent.callbacks.any?(:before_tool)
  end
end
