# frozen_string_literal: true

require_relative "../test_helper"

class AgentBuilderTest < Minitest::Test
  include ScriptedRuns

  def builder(scenario = script({chat: {text: "a"}}, cycle: true), **options)
    LittleGhost::AgentBuilder.new(id: "customer_support", runtime: runtime_for(scenario), **options)
  end

  def test_it_takes_what_an_agent_class_takes
    scenario = script({chat: {text: "fine"}}, cycle: true)
    subject = builder(scenario, description: "Helps")
    seen = []
    subject.system_prompt "Be kind."
    subject.tools define_tool("lookup") {}
    subject.limits max_turns: 3
    assert_same subject, subject.before_model { seen << :model }
    run = subject.ask("hi")
    assert_equal ["fine", [:model], "Be kind."], [run.response, seen, texts(scenario.requests.last).first]
    assert_equal ["customer_support", "Helps", :agent, %w[lookup]],
      [subject.assembly_id, subject.description, subject.assembly_kind, subject.tools.map(&:tool_name)]
    assert_predicate subject.stream_ask("hi").each {}, :completed?
    assert_predicate subject.start_execution({message: "hi"}).wait, :completed?
    assert_equal "fine", subject.call("hi").response
  end

  def test_later_changes_do_not_reach_what_was_built
    subject = builder
    subject.system_prompt "one"
    agent = subject.build
    definition = subject.definition
    seen = []
    subject.system_prompt "two"
    subject.before_model { seen << :late }
    subject.assembly_id "renamed"
    assert_equal ["one", "customer_support", :agent], [definition.implementation.system_prompt, definition.assembly_id, definition.kind]
    assert_equal "one", agent.class.system_prompt
    agent.ask("hi")
    assert_empty seen
    assert_equal ["two", "renamed"], [subject.build.class.system_prompt, subject.definition.assembly_id]
  end

  def test_bases
    parent = agent_class(define_tool("one") {}) { limits max_turns: 2 }
    subject = parent.to_builder
    subject.tools define_tool("two") {}
    assert_equal %w[one two], subject.build.class.tools.map(&:tool_name)
    assert_equal %w[one], parent.tools.map(&:tool_name)
    assert_equal "tester", parent.definition.assembly_id
    assert_operator LittleGhost::AgentBuilder.new(base: parent.definition).build.class, :<, parent
    assert_raises(ArgumentError) { LittleGhost::AgentBuilder.new(base: String) }
    assert_instance_of LittleGhost::InvalidPromptTemplateError, builder.ask("hi").error
  end

  def test_as_a_tool
    inner = script({chat: {text: "inner one"}}, {chat: {text: "inner two"}})
    outer = script(tool_calls(["helper", {input: "a"}]), tool_calls(["helper", {input: "b"}]), {chat: {text: "done"}})
    tool = agent_for(inner).as_tool(name: "helper", description: "Helps.", preserve_context: true)
    provider = Class.new { define_singleton_method(:tools) { |_binding| [tool] } }
    run = agent_for(outer, provider).ask("hi", context: {plan: "pro"})
    assert_equal "done", run.response, run.error.inspect
    assert_equal ["inner one", "inner two"], texts(outer.requests.last).values_at(3, 5)
    assert_equal ["Be brief.", "a", "inner one", "b"], texts(inner.requests.last)
  end

  def test_declarations_return_the_builder
    subject = builder
    chained = subject.description("Helps").assembly_id("support").model("scripted:one").system_prompt("Be kind.").limits(max_turns: 2)
    assert_same subject, chained
    assert_equal ["scripted:one", "Be kind.", {max_turns: 2}, "support", "Helps"],
      [subject.model, subject.system_prompt, subject.limits, subject.assembly_id, subject.description]
  end

  def test_an_agent_is_built_for_a_run
    texts = Queue.new
    subject = builder.system_prompt("Be kind.")
    work = Class.new(LittleGhost::Tool) do
      tool_name "work"
      description "Works."
      input_schema type: "object"
      define_method(:call) { |_| texts << subject.build(run: run).stream("inner").each {}.text }
    end
    scenario = script(tool_calls(["work", {}]), {chat: {text: "inner"}}, {chat: {text: "done"}})
    assert_equal "done", agent_for(scenario, work).ask("a").response
    assert_equal "inner", texts.pop
  end
end
