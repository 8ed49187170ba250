# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/participants"

# Declared routes between participants.
class GraphTest < Minitest::Test
  include ScriptedRuns
  include Participants

  class Unexpected < StandardError; end

  def routed(kind, &more)
    triage, billing, general, respond = participant("triage", kind), echo("billing"), echo("general"), echo("respond")
    graph do
      node :triage, triage
      node :billing, billing
      node :general, general
      node :respond, respond, input: ->(state) { "after #{state.previous}: #{state.previous_result.output}" }
      start :triage
      edge(:triage, :billing, input: ->(_) { "the bill" }) { |state| state.result(:triage).output == "billing" }
      edge :triage, :general
      edge :billing, :respond
      edge :general, :respond
      finish :respond
      class_eval(&more) if more
    end
  end

  # A chain of nodes, named like their agents.
  def chain(*agents, &more)
    graph do
      agents.each { |agent| node agent.agent_id, agent }
      agents.each_cons(2) { |from, to| edge from.agent_id, to.agent_id }
      start agents.first.agent_id
      finish agents.last.agent_id
      class_eval(&more) if more
    end
  end

  def test_a_condition_chooses_the_route_and_mappers_the_input
    run, events = streamed(routed("billing"))
    assert_equal "respond: after billing: billing: the bill", run.response, run.error.inspect
    assert_equal [[:step_start, :triage], [:step_stop, :triage], [:transition, %i[triage billing]], [:step_start, :billing], [:step_stop, :billing],
      [:transition, %i[billing respond]], [:step_start, :respond], [:step_stop, :respond]], coordination(events)
    transition = events.find { |event| event.type == :assembly_transition }.data
    assert_equal [false, nil, 1, :graph], transition.values_at(:error, :branch_id, :step, :assembly_kind)
    assert_equal %w[triage billing respond], run.result.steps.map(&:participant)
    assert_includes routed("other").ask("Why?").response, "after general: general: Original Task:"
  end

  def test_more_than_one_route_or_none_is_an_error
    run = routed("billing") { edge(:triage, :respond) { |_| true } }.ask("a")
    assert_instance_of LittleGhost::AssemblyRoutingError, run.error
    a, b = participant("a", "x"), echo("b")
    lost = graph { node(:a, a) && node(:b, b) && edge(:a, :b, if: ->(_) { false }) && start(:a) && finish(:b) }
    assert_instance_of LittleGhost::AssemblyRoutingError, lost.ask("a").error
    mine = Unexpected.new
    run = routed("billing") { edge(:triage, :respond) { |_| raise mine } }.ask("a")
    assert_same mine, run.error
  end

  def test_parallel_branches_meet
    meet = meeting(2)
    tool = define_tool("meet") { |_| meet.call && "met" }
    source, last = participant("source", "begin"), echo("last")
    one, two = %w[one two].map { |id| participant(id, {tool: "meet", input: {}}, "I am #{id}") { tools tool } }
    subject = graph do
      node :source, source
      node :one, one
      node :two, two
      node :last, last
      start :source
      edge :source, [:one, :two], max_concurrency: 2
      edge [:one, :two], :last, input: ->(state) { state.incoming_results.map { |name, result| "#{name}=#{result.output}" }.join(" ") }
      finish :last
    end
    run, events = streamed(subject)
    assert_equal "last: one=I am one two=I am two", run.response, run.error.inspect
    fork = events.find { |event| event.type == :assembly_fork }.data
    join = events.find { |event| event.type == :assembly_join }.data
    assert_equal [:source, %i[one two], %i[one two], :last], [fork[:from], fork[:branches], join[:from], join[:to]]
    assert_equal %i[one two], events.filter_map { |event| event.data[:branch_id] if event.type == :assembly_step_stop }.sort
    branches = run.result.steps[1, 2]
    assert_equal %w[one two], branches.map(&:branch_id).sort
    assert run.result.trajectory.concurrent?(*branches.map(&:id))
    assert_equal branches.map(&:id).sort, run.result.steps.last.predecessor_ids.sort
    chart = subject.to_mermaid
    assert_equal "flowchart TD", chart.lines.first.chomp
    assert_includes chart, "n_source -->|fork| n_two"
    assert_includes chart, "n_one -->|join| n_last"
  end

  def test_a_failure_is_led_to_recovery
    broken, rescue_agent, last = participant("broken", Unexpected.new("secret")), echo("rescue"), echo("last")
    seen = []
    subject = graph do
      node :broken, broken
      node :rescue, rescue_agent
      node :last, last
      start :broken
      edge :broken, :last
      edge :rescue, :last
      error_edge :broken, :rescue, on: Unexpected, input: ->(state) { seen.push(state) && "failed" }
      finish :last
    end
    run, events = streamed(subject)
    assert_predicate run, :completed?, run.error.inspect
    state = seen.first
    assert_equal [Unexpected, "secret", true, :rescue, {}], [state.error.class, state.error.message, state.error.frozen?, state.current, state.incoming_results]
    assert_equal [:failed, ["GraphTest::Unexpected"]], [run.result.steps.first.status, run.result.steps.first.attempts.map(&:error)]
    assert events.find { |event| event.type == :assembly_transition }.data[:error]
    assert_includes subject.to_mermaid, "n_broken -.->|error| n_rescue"
    error = events.find { |event| event.type == :assembly_step_error }.data
    assert_equal [true, "broken"], error.values_at(:terminal, :participant)
  end

  def test_a_failed_node_fails_the_run_with_its_error
    mine = Unexpected.new("mine")
    run, events = streamed(chain(echo("a"), participant("b", mine)))
    assert_same mine, run.error
    assert_equal %i[invocation_error run_error], events.last(2).map(&:type)
    assert_same mine, events[-2].data[:error]
  end

  def test_the_state_is_a_frozen_copy
    states = []
    a, b = participant("a", "one"), echo("b")
    subject = graph do
      node "a", a, context: true
      node :b, b
      start :a
      edge("a", :b) { |state| states << state }
      finish :b
    end
    subject.ask("Why?", history: [{role: "user", content: "Before"}], context: {plan: {name: "pro"}})
    state = states.first
    assert_equal ["Why?", ["Before"], "pro", :a, 1, [], nil, nil], [state.input.text, state.history.map(&:text),
      state.context.dig(:plan, :name), state.current, state.step, state.predecessors, state.previous, state.previous_result]
    assert_equal ["one", {"plan" => {"name" => "pro"}}], [state.result("a").output, state.results.fetch(:a).state]
    [state, state.context, state.context["plan"], state.results, state.results[:a].state, state.history].each { |value| assert_predicate value, :frozen? }
    assert_raises(FrozenError) { state.context["plan"]["name"] << "!" }
  end

  def test_unsound_graphs_are_refused
    a, b = echo("a"), echo("b")
    {
      "no nodes" => graph {}, "no start" => graph { node(:a, a) && finish(:a) }, "no finish" => graph { node(:a, a) && start(:a) },
      "two nodes" => chain(a, b) { node :a, b }, "never comes to" => chain(a, b) { node(:c, a) && edge(:c, :b) },
      "c" => chain(a, b) { edge :a, :c }
    }.each do |words, subject|
      error = assert_raises(LittleGhost::ConfigurationError, words) { subject.validate! }
      assert_includes error.message, words
      assert_raises(LittleGhost::ConfigurationError) { subject.to_mermaid }
      assert_instance_of LittleGhost::ConfigurationError, subject.ask("a").error
    end
    subject = chain(a, b)
    assert_same subject, subject.validate!
    outer = graph("outer") do
      node :a, a
      node :b, self
      start :a
      edge :a, :b
      finish :b
    end
    assert_includes assert_raises(LittleGhost::ConfigurationError) { outer.validate! }.message, "contains itself"
  end

  def test_declarations_that_make_no_sense_are_refused_at_once
    a = echo("a")
    [
      -> { graph { edge :a, :b, unless: 1 } }, -> { graph { edge(:a, :b, if: -> {}) {} } }, -> { graph { edge :a, :b, if: 1 } },
      -> { graph { edge :a, :b, input: "text" } }, -> { graph { node :a, a, input: 1 } }, -> { graph { edge %i[a b], %i[c d] } },
      -> { graph { edge(%i[a b], :c) { true } } }, -> { graph { edge :a, :b, max_concurrency: 2 } },
      -> { graph { edge :a, %i[b c], max_concurrency: 0 } }, -> { graph { edge :a, [:b] } }, -> { graph { edge %i[a a], :b } },
      -> { graph { error_edge :a, :b, on: [] } }, -> { graph { error_edge :a, :b, on: "no" } }, -> { graph { node 1, a } },
      -> { graph { node :a, "a" } }, -> { graph { node :a, a, history: 1 } }, -> { graph { max_steps 0 } }, -> { graph { start "" } }
    ].each_with_index { |declare, number| assert_raises(ArgumentError, number.to_s, &declare) }
    assert_raises(ArgumentError) { chain(a, echo("b")) { node(:c, a, retries: 1) && edge(:c, :b) && edge(:a, :c) }.validate! }
    assert_equal [20, 8, nil, nil], graph {}.then { |subject| [subject.max_steps, subject.max_concurrency, subject.start, subject.finish] }
  end

  def test_steps_are_limited
    a, b = participant("a", "x"), participant("b", "y")
    subject = chain(a, b) { edge(:a, :a) { |_| true } && max_steps(3) }
    assert_instance_of LittleGhost::AssemblyLimitError, subject.ask("a").error
  end

  def nested(levels)
    (1..levels).reduce(echo("leaf")) { |inner, level| graph("level_#{level}") { node(:a, inner) && start(:a) && finish(:a) } }
  end

  def test_a_hundred_graphs_nest_also_on_a_fiber
    deep = nested(100)
    deep.validate!
    run = deep.ask("go")
    assert_equal ["completed", "leaf: go"], [run.outcome, run.response], run.error.inspect
    assert_equal "leaf: again", Fiber.new { deep.ask("again").response }.resume
  end

  def test_more_graphs_than_that_are_refused
    {101 => "leaf", 102 => "level_1", 400 => "level_299"}.each do |levels, innermost|
      [-> { nested(levels).ask("go") }, -> { Fiber.new { nested(levels).ask("go") }.resume }].each do |ask|
        error = ask.call.error
        assert_instance_of LittleGhost::AssemblyLimitError, error
        assert_match(/\Athe (agent|graph) "#{innermost}" is inside of more than 100 others/, error.message)
      end
    end
    assert_raises(LittleGhost::AssemblyLimitError) { nested(102).validate! }
  end

  def test_assemblies_nest
    leaf = echo("leaf")
    inner = chain(echo("i1"), leaf)
    body = workflow("body") { invoke(leaf, input: "in the body") }
    members = swarm("members") do
      member leaf
      member Class.new(leaf) { agent_id "other" }
      start leaf
    end
    subject = graph do
      node :inner, inner
      node :body, body
      node :members, members, input: ->(state) { state.previous_result.output }
      start :inner
      edge :inner, :body
      edge :body, :members
      finish :members
    end
    paths = []
    run = subject.stream_ask("a").each { |event| paths |= [event.data[:source].assembly_path.map(&:participant)] if event.type == :agent_stream }
    assert_equal "leaf: leaf: in the body", run.response, run.error.inspect
    assert_equal [%w[inner i1], %w[inner leaf], %w[body leaf], %w[members leaf]], paths
    assert_equal 7, run.result.steps.length
  end

  def test_prompt_locals_reach_the_innermost_participants
    seen = []
    agent = participant("agent", "fine") { system_prompt { |locals| seen.push(locals.slice(:outer, :inner)) && "Be brief." } }
    inner = chain(agent, echo("b"))
    inner.define_method(:prompt_locals) { {inner: 1, outer: 1} }
    outer = chain(echo("a"), echo("c")) do
      node :inner, inner
      edge :a, :inner, if: ->(_) { true }
      edge :inner, :c
    end
    outer.define_method(:prompt_locals) { {outer: 2} }
    assert_predicate outer.ask("a"), :completed?
    assert_equal [{outer: 1, inner: 1}], seen
  end

  def test_many_at_once
    subject = routed("billing")
    runs = Array.new(8) { Thread.new { Array.new(5) { subject.ask("Why?").response } } }.flat_map(&:value)
    assert_equal ["respond: after billing: billing: the bill"], runs.uniq
  end
end
