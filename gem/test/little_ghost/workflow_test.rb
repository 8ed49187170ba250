# frozen_string_literal: true

require "async"
require_relative "../test_helper"
require_relative "../support/participants"

# Ruby that coordinates participants.
class WorkflowTest < Minitest::Test
  include ScriptedRuns
  include Participants

  class Unexpected < StandardError; end

  class NamedHelperAgent < LittleGhost::Agent
    model LittleGhost::Testing::ScriptedModel.new("found", repeat: true)
    system_prompt "Be found."
  end

  # Keeps the operations and points that it is told of.
  class Recorder < LittleGhost::Instrumentation::Subscriber
    attr_reader :seen

    def initialize = @seen = []

    def start(name, attributes) = @seen << [name, attributes]

    def emit(name, attributes) = @seen << [name, attributes]
  end

  def test_an_intermediate_answer_is_read_and_the_final_one_streams
    research, support = participant("research", "evidence"), echo("support")
    subject = workflow { invoke(support, input: "#{input.text} #{invoke(research).output}") }
    run, events = streamed(subject)
    assert_equal ["completed", "support: Why? evidence"], [run.outcome, run.response], run.error.inspect
    assert_equal [[:step_start, "research"], [:step_stop, "research"], [:step_start, "support"], [:step_stop, "support"]], coordination(events)
    types = events.map(&:type)
    assert_operator types.index(:text_delta), :<, types.rindex(:assembly_step_stop)
    assert_equal 1, types.count(:text_delta)
    steps = run.result.steps
    assert_equal [["research", "evidence", :completed, :agent], ["support", run.response, :completed, :agent]],
      steps.map { |step| [step.participant, step.output, step.status, step.assembly_kind] }
    assert_equal [[steps[0].id, steps[1].id]], run.result.trajectory.transitions
    refute run.result.trajectory.concurrent?(*steps.map(&:id))
    assert_same run.result, events.last.data[:result]
    assert_equal ["research"], events.first(2).last.data.values_at(:participant)
    assert_equal :workflow, events[1].data[:assembly_kind]
  end

  def test_each_participant_gets_copies_of_what_the_workflow_has
    noted = []
    note = define_tool("note") { |_, context:| noted << (context.state["seen"] = "changed") }
    first = participant("first", {tool: "note", input: {}}, "noted") { tools note }
    second = participant("second", "done")
    states = []
    subject = workflow do
      invoke(first).output
      states << context.to_h
      context["plan"] = "team"
      invoke(second, as: :last)
    end
    run = subject.ask("Go on", history: [{role: "user", content: "Hi"}, {role: "assistant", content: "Hello"}], context: {plan: "pro"})
    assert_equal [[{"plan" => "pro"}], %w[changed]], [states, noted]
    assert_equal({"plan" => "team"}, run.result.state)
    assert_equal ["Be second.", "Hi", "Hello", "Go on"], second.requests.last.messages.map(&:text)
    assert_equal %w[first last], run.result.steps.map(&:participant)

    subject = workflow { invoke(second, history: [], context: {other: 1}, input: LittleGhost::Message.new(role: :user, content: "Else")) }
    run = subject.ask("Go on", history: [{role: "user", content: "Hi"}], context: {plan: "pro"})
    assert_equal ["Be second.", "Else"], second.requests.last.messages.map(&:text)
    assert_equal({"other" => 1}, run.result.state)
  end

  def test_what_ends_without_a_final_invocation_fails
    agent = echo("agent")
    {
      "text" => workflow { "the text" },
      "consumed" => workflow { invoke(agent).tap(&:output) },
      "twice" => workflow { [invoke(agent)].each(&:output).then { |(one)| parallel(one) } }
    }.each do |name, subject|
      error = subject.ask("a").error
      assert_kind_of (name == "twice" ? ArgumentError : LittleGhost::ProtocolError), error, name
    end
    run, events = streamed(Class.new(LittleGhost::Workflow))
    assert_kind_of LittleGhost::AbstractMethodError, run.error
    assert_equal %i[run_start invocation_error run_error], events.map(&:type)
    mine = Unexpected.new("mine")
    assert_same mine, workflow { raise mine }.ask("a").error
    assert_kind_of LittleGhost::ConfigurationError, workflow { invoke(:nobody_of_that_name) }.ask("a").error
    assert_kind_of ArgumentError, workflow { invoke(String) }.ask("a").error
    assert_kind_of ArgumentError, workflow { invoke(agent, retries: 1) }.ask("a").error
    assert_kind_of ArgumentError, workflow { invoke(agent, timeout: 0) }.ask("a").error
    assert_kind_of ArgumentError, workflow { invoke(agent, timeout: Float::NAN) }.ask("a").error
    assert_kind_of ArgumentError, workflow { parallel }.ask("a").error
  end

  def test_an_invocation_of_another_run_is_refused
    helper = participant("helper", "found")
    kept = nil
    streamed(workflow { (kept = invoke(helper)) && invoke(helper) })
    run = streamed(workflow { kept }).first
    assert_includes run.error.message, "got one of another run"
  end

  def test_an_output_is_the_same_each_time_and_a_failure_too
    agent = participant("agent", "one", Unexpected.new("no"))
    seen = []
    subject = workflow do
      once = invoke(agent)
      seen << once.output << once.output
      again = invoke(agent)
      2.times { again.output rescue seen << $!.class } # rubocop:disable Style/RescueModifier
      invoke(agent)
    end
    run = subject.ask("a")
    assert_equal ["one", "one", Unexpected, Unexpected], seen
    assert_instance_of Unexpected, run.error
  end

  def test_a_structured_answer_is_its_value
    triage = participant("triage", {json: {urgent: true}}) do
      result_schema type: "object", properties: {urgent: {type: "boolean"}}, required: ["urgent"], additionalProperties: false
    end
    support = echo("support")
    subject = workflow { invoke(support, input: "urgent: #{invoke(triage).output.fetch(:urgent)}") }
    assert_equal "support: urgent: true", subject.ask("a").response
  end

  def test_agents_are_found_by_their_names
    ["workflow_test/named_helper", :"workflow_test/named_helper", "WorkflowTest/NamedHelperAgent"].each do |name|
      assert_equal "found", workflow { invoke(name) }.ask("a").response, name.inspect
    end
    error = workflow { invoke(:nobody_at_all) }.ask("a").error
    assert_includes error.message, "NobodyAtAllAgent"
  end

  def test_steps_are_operations_between_the_run_and_its_agents
    recorder = Recorder.new
    leaf = echo("leaf")
    subject = workflow { invoke(leaf, as: :look) }
    LittleGhost::Instrumentation.subscribe(recorder)
    subject.ask("a")
    run, step, agent = %i[run assembly_step agent].map { |name| recorder.seen.assoc(name).last }
    assert_equal [run[:operation_id], step[:operation_id]], [step[:parent_operation_id], agent[:parent_operation_id]]
    assert_equal ["flow", :workflow, "look"], step.values_at(:assembly_id, :assembly_kind, :participant)
  ensure
    LittleGhost::Instrumentation.unsubscribe(recorder)
  end

  def test_parallel_answers_come_in_the_order_of_the_arguments
    meet = meeting(2)
    tool = define_tool("meet") { |_| meet.call && "met" }
    agents = %w[a b].map { |id| participant(id, {tool: "meet", input: {}}, "I am #{id}") { tools tool } }
    last = echo("last")
    subject = workflow { invoke(last, input: parallel(*agents.map { |agent| invoke(agent) }).join(", ")) }
    run = subject.ask("a")
    assert_equal "last: I am a, I am b", run.response, run.error.inspect
    first, second = run.result.steps.first(2)
    assert run.result.trajectory.concurrent?(first.id, second.id)
  end

  def test_the_first_failure_of_parallel_calls_is_raised_and_cancels_the_others
    left = Queue.new
    started = Queue.new
    slow = define_tool("slow") do |_, context:|
      started << true
      context.cancellation_token.wait(5)
      left << context.cancellation_token.cancelled?
      nil
    end
    waiting = participant("waiting", {tool: "slow", input: {}}, "late") { tools slow }
    failing = participant("failing", ->(_) { started.pop(timeout: 5) && raise(Unexpected, "no") })
    run = workflow { parallel(invoke(waiting), invoke(failing)) && invoke(waiting) }.ask("a")
    assert_instance_of Unexpected, run.error
    assert left.pop(timeout: 5)
  end

  def test_attempts_are_repeated_and_announced
    agent = participant("agent", Unexpected.new("once"), "fine")
    run, events = streamed(workflow { invoke(agent, retries: 1, retry_on: Unexpected, retry_delay: 0.001) })
    assert_equal "fine", run.response, run.error.inspect
    failed = events.find { |event| event.type == :assembly_step_error }.data
    assert_equal ["agent", 1, "WorkflowTest::Unexpected", false], failed.values_at(:participant, :attempt, :error_type, :terminal)
    assert_instance_of LittleGhost::Usage, failed[:usage]
    assert_equal [[1, :failed, "WorkflowTest::Unexpected"], [2, :completed, nil]],
      run.result.steps.first.attempts.map { |attempt| [attempt.number, attempt.status, attempt.error] }
    assert_instance_of Time, run.result.steps.first.attempts.first.started_at
    other = participant("other", RuntimeError.new("no"), "fine")
    assert_instance_of RuntimeError, workflow { invoke(other, retries: 1, retry_on: [Unexpected]) }.ask("a").error
  end

  def test_a_participant_has_its_own_time
    agent = participant("agent", {text: "late", delay: 5})
    error = assert_quick(2) { workflow { invoke(agent, timeout: 0.02) }.ask("a").error }
    assert_instance_of LittleGhost::AssemblyStepTimeoutError, error
    run = assert_quick(2) { workflow { invoke(agent) }.ask("a", deadline_at: Time.now + 0.02) }
    assert_predicate run, :partial?
  end

  def test_cancelling_ends_the_body
    agent = participant("agent", {text: "late", delay: 5})
    token = LittleGhost::Support::CancellationToken.new
    closed = []
    subject = workflow do
      invoke(agent).output
    ensure
      closed << true
    end
    events = subject.stream_ask("a", cancellation_token: token)
    run = assert_quick(2) { events.each { |event| token.cancel if event.type == :assembly_step_start } }
    assert_predicate run, :cancelled?
    assert_equal [true], closed
  end

  def test_what_interrupts_the_wait_for_a_participant_is_no_failure_of_the_body
    slow, other = participant("slow", {text: "late", delay: 60}), echo("other")
    begun = Thread::Queue.new
    subject = workflow do
      begun << Fiber.current
      begin
        invoke(slow).output
      rescue Unexpected
        nil
      end
      invoke other
    end
    Sync do |task|
      asking = task.async { subject.ask("a") }
      Fiber.scheduler.raise(begun.pop, Unexpected.new("enough"))
      assert_raises(Unexpected) { asking.wait }
    end
  end

  def test_leaving_the_stream_ends_the_body
    agent = participant("agent", {text: "late", delay: 5})
    closed = []
    subject = workflow do
      invoke(agent).output
    ensure
      closed << true
    end
    assert_quick(2) { subject.stream_ask("a").each { |event| break if event.type == :assembly_step_start } }
    assert_equal [true], closed
    assert_raises(Unexpected) { subject.stream_ask("a").each { |event| raise Unexpected if event.type == :assembly_step_start } }
    greedy = workflow do
      invoke(agent).output
    rescue StandardError
      invoke(agent)
    end
    assert_raises(Unexpected) { greedy.stream_ask("a").each { |event| raise Unexpected if event.type == :assembly_step_start } }
  end

  def test_workflows_nest
    leaf = echo("leaf")
    inner = workflow("inner") { invoke(leaf, input: invoke(leaf, input: "1").output) }
    outer = workflow("outer") { invoke(inner, input: parallel(invoke(inner), invoke(inner, as: :other)).join("+")) }
    run, events = streamed(outer)
    assert_equal "leaf: leaf: 1", run.response, run.error.inspect
    steps = run.result.steps
    tops = steps.select { |step| step.parent_id.nil? }
    assert_equal [%w[inner inner other], 9], [tops.map(&:participant).sort, steps.length]
    assert_equal %w[leaf leaf], run.result.trajectory.children(tops.last.id).map(&:participant)
    assert_equal 9, events.count { |event| event.type == :assembly_step_stop }
  end

  def test_many_workflows_nest
    innermost = participant("innermost", "here")
    deep = (1..60).reduce(innermost) { |inner, _| workflow { invoke inner } }
    run = streamed(deep).first
    assert_equal ["completed", "here"], [run.outcome, run.response], run.error.inspect
  end

  def test_a_workflow_that_contains_itself_fails
    endless = workflow { invoke endless }
    run = streamed(endless).first
    assert_kind_of LittleGhost::AssemblyLimitError, run.error
    assert_includes run.error.message, "contain or call itself"
  end

  def test_an_agent_that_calls_itself_as_a_tool_is_stopped
    again = {tool: "again", input: {input: "Once more"}}
    caller = LittleGhost::Testing::ScriptedModel.new(->(request) { request.messages.last.role == :tool ? "enough" : again }, repeat: true)
    agent = agent_class { model caller }
    agent.agent_as_tool(agent, name: "again")
    run = agent.ask("Begin")
    assert_equal ["completed", "enough"], [run.outcome, run.response], run.error.inspect
    assert_includes caller.requests.map { |request| request.messages.last.content.to_s }.join, "AssemblyLimitError"
  end

  def test_the_body_runs_where_the_run_is_read_and_is_alone_there
    agent = echo("agent")
    places = []
    subject = workflow do
      places << Thread.current
      Thread.new { invoke(agent).output }.tap { |thread| thread.report_on_exception = false }.join
    rescue LittleGhost::Error => error
      places << error.message
      invoke(agent)
    end
    assert_equal "agent: a", subject.ask("a").response
    assert_equal Thread.current, places.first
    assert_includes places.last, "perform itself"
  end

  def test_prompt_locals_reach_the_participants
    agent = participant("agent", "fine") do
      system_prompt { |locals| "For #{locals[:company]}, #{locals[:mine]}." }
      prompt_local :mine, "own"
    end
    subject = workflow { invoke(agent) }
    subject.define_method(:prompt_locals) { {company: "Northstar", mine: "theirs"} }
    subject.ask("a")
    assert_equal "For Northstar, own.", agent.requests.last.messages.first.text
  end

  def test_events_of_every_agent_are_wrapped_by_default
    research, support = participant("research", "evidence"), echo("support")
    subject = workflow { invoke(support, input: invoke(research, as: :look).output) }
    wrapped = []
    subject.stream_ask("Why?").each { |event| wrapped << event if event.type == :agent_stream }
    texts = wrapped.select { |event| event.data[:event].type == :text_delta }
    assert_equal %w[research support], texts.map { |event| event.data[:source].agent_id }
    step = texts.first.data[:source].assembly_path.last
    assert_equal ["flow", :workflow, "look", nil], [step.assembly_id, step.assembly_kind, step.participant, step.branch_id]
    stop = wrapped.select { |event| event.data[:event].type == :invocation_stop }.map { |event| event.data[:event].data[:result] }
    assert_equal ["evidence", "support: evidence"], stop.map(&:text)
    assert_predicate stop.first.state, :frozen?
    execution_events = Queue.new
    subject.new.start_execution({message: "Why?"}) { |event| execution_events << event.type }.wait
    assert_includes Array.new(execution_events.length) { execution_events.pop }, :agent_stream
    types = subject.stream_ask("Why?", include_agent_events: false).map(&:type)
    refute_includes types, :agent_stream
  end

  def test_a_session_keeps_the_words_of_the_user_and_the_public_answer
    research, support = participant("research", "evidence"), echo("support")
    subject = workflow { invoke(support, input: "#{invoke(research).output}?") }
    runtime = runtime_for(script({chat: {text: "unused"}}))
    2.times { |turn| subject.new(runtime: runtime).ask("Question #{turn}", session_id: "s") }
    assert_equal ["Be support.", "Question 0", "support: evidence?", "evidence?"], support.requests.last.messages.map(&:text)
  end
end
