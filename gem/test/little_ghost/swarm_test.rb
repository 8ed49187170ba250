# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/participants"

# Agents that hand a request on.
class SwarmTest < Minitest::Test
  include ScriptedRuns
  include Participants

  def pair(first, second, &more)
    swarm do
      member first
      member second
      start first
      class_eval(&more) if more
    end
  end

  def test_the_member_at_work_hands_on_and_the_last_one_answers
    triage = participant("triage", {text: "Let me see.", tool: "handoff_to_agent", input: {agent_id: "billing", message: "Charged twice", context: {order: 7}}})
    billing = echo("billing")
    run, events = streamed(pair(triage, billing), "Why?", history: [{role: "user", content: "Before"}], context: {plan: "pro"})
    assert_predicate run, :completed?, run.error.inspect
    assert_equal [[:step_start, "triage"], [:step_stop, "triage"], [:transition, %w[triage billing]], [:step_start, "billing"], [:step_stop, "billing"]],
      coordination(events)
    assert_equal [1, 2], events.select { |event| event.type == :assembly_step_start }.map { |event| event.data[:step] }
    refute_includes events.filter_map { |event| event.data[:text] if event.type == :text_delta }.join, "Let me see."
    first, second = run.result.steps
    assert_equal ["billing", "Charged twice", {"order" => 7}], [first.output[:agent_id], first.output["message"], first.output[:context].to_h]
    assert_predicate first.output, :frozen?
    assert_equal [[first.id, second.id], run.response], [run.result.trajectory.transitions.first, second.output]
    assert_includes run.response, "Charged twice"
    assert_equal 2, triage.requests.first.messages.length
    tool = triage.requests.first.tools.first
    assert_equal ["handoff_to_agent", ["billing"]], [tool["name"], tool.dig("input_schema", "properties", "agent_id", "enum")]
    assert_includes tool["description"], "Does billing."
    assert_equal({}, run.result.state)
  end

  def test_a_member_opts_into_what_the_caller_has
    first = participant("first", "done")
    second = echo("second")
    subject = swarm do
      member first, as: "primary", history: true, context: true
      member second
      start "primary"
    end
    run = subject.ask("Now", history: [{role: "user", content: "Before"}], context: {plan: "pro"})
    assert_equal ["Be first.", "Before", "Now"], first.requests.last.messages.map(&:text)
    assert_equal [{"plan" => "pro"}, ["primary"]], [run.result.state, run.result.steps.map(&:participant)]
  end

  def test_callbacks_see_the_handoff
    seen = []
    triage = participant("triage", handoff("billing")) do
      before_tool { |payload| seen << [payload[:tool_use].name, payload[:tool]] && nil }
      after_tool { |payload| seen << payload[:result].status && nil }
    end
    run = pair(triage, echo("billing")).ask("a")
    assert_predicate run, :completed?, run.error.inspect
    assert_equal [["handoff_to_agent", nil], :success], seen
    stubborn = participant("stubborn", handoff("billing"), "I keep it") { before_tool { |_| LittleGhost::Support::Callbacks.cancel("stay") } }
    assert_equal "I keep it", pair(stubborn, echo("billing")).ask("a").response
  end

  def test_limits
    ping = participant("ping", handoff("pong"))
    pong = participant("pong", handoff("ping"))
    run, events = streamed(pair(ping, pong) { max_handoff_repeats 2 })
    assert_instance_of LittleGhost::AssemblyLimitError, run.error
    loop_event = events.find { |event| event.type == :assembly_handoff_loop }.data
    assert_equal ["ping", "pong", 3, :swarm], loop_event.values_at(:from, :to, :count, :assembly_kind)
    run = pair(ping, pong) { max_steps 3 }.ask("a")
    assert_instance_of LittleGhost::AssemblyLimitError, run.error
    assert_equal [20, 3], [swarm {}.max_steps, swarm {}.max_handoff_repeats]
    assert_equal [[20, 3], [4, 5]], [pair(ping, pong), pair(ping, pong) { max_steps(4) && max_handoff_repeats(5) }].map { |subject| [subject.max_steps, subject.max_handoff_repeats] }
  end

  def test_unsound_swarms_are_refused
    a, b, c = %w[a b c].map { |id| echo(id) }
    {
      "two members" => swarm { member(a) && start(a) },
      "no start" => swarm { member(a) && member(b) },
      "no member" => swarm { member(a) && member(b) && start(c) },
      "twice" => pair(a, b) { handoff(a, to: b) && handoff(a, to: b) },
      "itself" => pair(a, b) { handoff(a, to: a) },
      "in its handoffs" => pair(a, b) { handoff(a, to: c) },
      "two members called" => pair(a, b) { member(c, as: "a") },
      "no agent" => pair(a, swarm("inner") {})
    }.each do |words, subject|
      error = assert_raises(LittleGhost::ConfigurationError, words) { subject.validate! }
      assert_includes error.message, words
      assert_instance_of LittleGhost::ConfigurationError, subject.ask("a").error
    end
    subject = pair(a, b)
    assert_same subject, subject.validate!
  end

  def test_declarations_that_make_no_sense_are_refused_at_once
    a, b = %w[a b].map { |id| echo(id) }
    [
      -> { swarm { member a, history: 1 } }, -> { swarm { member a, context: nil } }, -> { swarm { member a, as: "" } },
      -> { swarm { member String } }, -> { swarm { handoff a, to: [] } }, -> { swarm { handoff a, to: [b, b] } },
      -> { swarm { max_steps 0 } }, -> { swarm { max_handoff_repeats "2" } }, -> { swarm { member a, retry_on: "no" } }
    ].each_with_index { |declare, number| assert_raises(ArgumentError, number.to_s, &declare) }
    [{retries: 1}, {timeout: 0}, {timeout: -1}, {retry_delay: Float::INFINITY}, {retries: -1}].each do |policy|
      assert_raises(ArgumentError, policy.inspect) { pair(a, b) { member(a, as: "again", **policy) }.validate! }
    end
  end

  def test_declarations_are_inherited
    a, b, c = %w[a b c].map { |id| echo(id) }
    parent = pair(a, b) { handoff a, to: b }
    child = Class.new(parent) do
      member c
      start c
    end
    assert_equal "c: hi", child.validate!.ask("hi").response
    assert_equal "a: hi", parent.ask("hi").response
  end
end
