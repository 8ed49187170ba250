# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/participants"

# Coordinating assemblies that are put together while the application runs.
class AssemblyBuildersTest < Minitest::Test
  include ScriptedRuns
  include Participants

  def test_a_graph
    subject = LittleGhost::GraphBuilder.new(id: "support_flow", description: "Routes requests")
    a, b = echo("a"), echo("b")
    assert_same subject, subject.node(:a, a).node(:b, b).start(:a).edge(:a, :b) { |_| true }.finish(:b).max_steps(5).max_concurrency(2)
    assert_same subject, subject.error_edge(:a, :b, on: KeyError).validate!
    assert_includes subject.to_mermaid, "n_a -->|condition| n_b"
    assert_equal ["support_flow", "Routes requests", :graph], [subject.assembly_id, subject.description, subject.assembly_kind]
    assert_predicate subject.ask("hi"), :completed?
    assert_equal "support_flow", subject.stream_ask("hi").find { |event| event.type == :assembly_step_start }.data[:assembly_id]
    assert_raises(LittleGhost::ConfigurationError) { LittleGhost::GraphBuilder.new.ask("hi") }
    assert_equal %w[graph swarm workflow agent], [LittleGhost::GraphBuilder, LittleGhost::SwarmBuilder, LittleGhost::WorkflowBuilder,
      LittleGhost::AgentBuilder].map { |type| type.new.assembly_id }
  end

  def test_ids_are_not_blank
    builders = [LittleGhost::AgentBuilder, LittleGhost::WorkflowBuilder, LittleGhost::SwarmBuilder, LittleGhost::GraphBuilder]
    ["", "  "].each do |id|
      builders.each do |builder|
        assert_match(/is blank; give it a name/, assert_raises(LittleGhost::ConfigurationError) { builder.new(id: id) }.message)
      end
      assert_raises(LittleGhost::ConfigurationError) { Class.new(LittleGhost::Agent) { agent_id id } }
      assert_raises(LittleGhost::ConfigurationError) { Class.new(LittleGhost::Graph) { assembly_id id } }
    end
  end

  def test_a_definition_is_fixed
    a, b, c = %w[a b c].map { |id| echo(id) }
    subject = LittleGhost::SwarmBuilder.new(id: "team")
    subject.member(a).member(b).start(a)
    definition = subject.definition
    built = subject.build
    subject.member(c).start(c).assembly_id("renamed")
    assert_equal ["team", :swarm, "a"], [definition.assembly_id, definition.kind, definition.implementation.start]
    assert_equal ["a: hi", "c: hi"], [built.ask("hi").response, subject.ask("hi").response]
    assert_raises(FrozenError) { definition.implementation.member c }
    assert_raises(FrozenError) { definition.implementation.max_steps 3 }
    assert_equal 20, definition.implementation.max_steps
    klass = swarm { member(a) && member(b) && start(a) }
    fixed = klass.definition
    klass.start b
    assert_equal %w[a b], [fixed.implementation.start, klass.start]
    assert_equal "a: hi", fixed.implementation.new.ask("hi").response
  end

  def test_builders_take_part_as_they_are_when_the_whole_is_built
    inner = LittleGhost::AgentBuilder.new(id: "inner")
    inner.model LittleGhost::Testing::ScriptedModel.new("fine", repeat: true)
    inner.system_prompt "one"
    last = echo("last")
    subject = graph do
      node :inner, inner
      node :last, last
      start :inner
      edge :inner, :last, input: ->(state) { state.result(:inner).messages.first.text }
      finish :last
    end
    fixed = subject.definition
    inner.system_prompt "two"
    assert_equal ["last: two", "last: one"], [subject.ask("a").response, fixed.implementation.new.ask("a").response]
    assert_equal "last: one", workflow { invoke(fixed) }.ask("a").response
  end

  def test_a_workflow
    agent = echo("agent")
    subject = LittleGhost::WorkflowBuilder.new(id: "flow")
    assert_raises(LittleGhost::ConfigurationError) { subject.validate! }
    assert_same subject, subject.perform { |flow| flow.send(:invoke, agent, input: flow.send(:input).text.upcase) }
    assert_equal "agent: HI", subject.ask("hi").response
    base = workflow("base") { invoke(agent) }
    subject = base.to_builder
    subject.description "Answers"
    assert_equal ["base", "Answers", "agent: hi"], [subject.assembly_id, subject.definition.description, subject.ask("hi").response]
    assert_raises(ArgumentError) { subject.perform }
    assert_raises(ArgumentError) { LittleGhost::WorkflowBuilder.new(base: agent) }
  end

  def test_an_assembly_answers_inside_of_a_run
    leaf = echo("leaf")
    inner = workflow("inner") { invoke(leaf, input: "#{input.text}!") }
    results = []
    outer_tool = Class.new(LittleGhost::Tool) do
      tool_name "ask_inner"
      description "Asks."
      input_schema type: "object"
      define_method(:call) do |_|
        built = inner.new(run: run)
        results << built.ask("from inside", template_locals: {a: 1})
        begin
          built.stream("again")
        rescue LittleGhost::Error => error
          results << error
        end
        events = inner.new(run: run).stream("stream").map(&:type)
        results << events
        "ok"
      end
    end
    run = participant("outer", {tool: "ask_inner", input: {}}, "done") { tools outer_tool }.ask("hi")
    assert_equal "done", run.response
    result, error, events = results
    assert_equal ["leaf: from inside!", ["leaf"]], [result.output, result.steps.map(&:participant)]
    assert_includes error.message, "once"
    assert_equal :assembly_step_start, events.first
    assert_includes events, :invocation_stop
    assert_raises(ArgumentError) { inner.new.stream("a", checkpoint: -> {}) }
    assert_equal "leaf: hi!", inner.new.stream("hi").each {}.response
  end
end
