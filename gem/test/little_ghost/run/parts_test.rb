# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/participants"
require "async"

# What each participant of an assembly has for itself.
class PartsTest < Minitest::Test
  include ScriptedRuns
  include Participants

  # A model in Ruby that meets others while it answers.
  class MeetingModel
    include LittleGhost::ModelInterface

    def initialize(text, meet)
      @text = text
      @meet = meet
    end

    def stream(_request)
      @meet.call
      yield LittleGhost::StreamEvent.build(:text_delta, text: @text)
      message = LittleGhost::Message.new(role: :assistant, content: @text)
      yield LittleGhost::StreamEvent.build(:message_stop, response: LittleGhost::ModelResponse.new(
        message: message, stop_reason: :end_turn, usage: LittleGhost::Usage.new(input_tokens: 1, output_tokens: 1)
      ))
    end
  end

  def speaker(id, selection, &declarations)
    Class.new(LittleGhost::Agent) do
      agent_id id
      system_prompt "Be #{id}."
      model selection
      class_eval(&declarations) if declarations
    end
  end

  def test_models_in_ruby_overlap
    meet = meeting(3)
    agents = %w[a b c].map { |id| speaker(id, MeetingModel.new("I am #{id}", meet)) }
    last = echo("last")
    subject = workflow { invoke(last, input: parallel(*agents.map { |agent| invoke(agent) }).join(", ")) }
    run = subject.ask("go")
    assert_equal ["last: I am a, I am b, I am c", 6], [run.response, run.usage.total_tokens], run.error.inspect
  end

  def test_nested_bodies_overlap
    meet = meeting(2)
    leaf = echo("leaf")
    inner = workflow("inner") do
      invoke(leaf).output
      meet.call
      invoke(leaf, input: "done")
    end
    outer = workflow { invoke(leaf, input: parallel(invoke(inner, as: :one), invoke(inner, as: :two)).join("+")) }
    assert_equal "leaf: leaf: done+leaf: done", outer.ask("go").response
    assert_equal "leaf: leaf: done+leaf: done", Sync { outer.ask("go").response }
  end

  def test_bodies_beside_end_when_the_consumer_leaves
    slow = participant("slow", {text: "late", delay: 5})
    ended = Queue.new
    inner = workflow("inner") do
      invoke(slow).output
    ensure
      ended << Thread.current
    end
    outer = workflow { parallel(invoke(inner), invoke(inner)) && invoke(slow) }
    starts = 0
    assert_quick(2) { outer.stream_ask("go").each { |event| break if event.type == :assembly_step_start && (starts += 1) == 4 } }
    threads = Array.new(2) { ended.pop(timeout: 5) }
    refute_includes threads, Thread.current
    assert(threads.all? { |thread| thread.join(5) })
  end

  def test_scheduled_fibers
    meet = meeting(2)
    tool = define_tool("meet") { |_| meet.call && "met" }
    agents = %w[a b].map { |id| participant(id, {tool: "meet", input: {}}, "I am #{id}") { tools tool } }
    last = echo("last")
    subject = workflow { invoke(last, input: parallel(*agents.map { |agent| invoke(agent) }).join(", ")) }
    responses = Sync { |task| Array.new(1) { task.async { subject.ask("a").response } }.map(&:wait) }
    assert_equal ["last: I am a, I am b"], responses
  end

  def test_each_has_callbacks_and_tools_of_its_own
    seen = []
    note = define_tool("note") { |_, context:| context.state["count"] = context.state.fetch("count", 0) + 1 }
    make = lambda do |id|
      participant(id, {tool: "note", input: {}}, {tool: "note", input: {}}, "fine") do
        tools note
        before_invocation { |payload| seen << [id, object_id, payload[:messages].last.text] && nil }
        after_tool { |payload| seen << [id, object_id, payload[:result].value] && nil }
      end
    end
    a, b = make.call("a"), make.call("b")
    run = workflow { invoke(a, input: "1").output && invoke(b, input: "2") }.ask("go", context: {kept: true})
    assert_equal [["a", "1"], ["a", 1], ["a", 2], ["b", "2"], ["b", 1], ["b", 2]], seen.map { |id, _, value| [id, value] }
    assert_equal 2, seen.map { |_, object, _| object }.uniq.length
    assert_equal({"kept" => true, "count" => 2}, run.result.state)
  end

  def test_each_is_closed_when_its_attempt_ends
    log = []
    make = lambda do |id, *turns|
      participant(id, *turns) do
        after_initialize { |_| log << [:open, id] && nil }
        define_method(:close) { super().tap { log << [:close, id] } }
      end
    end
    a, b = make.call("a", RuntimeError.new("once"), "fine"), make.call("b", "done")
    run = workflow { invoke(a, retries: 1, retry_on: RuntimeError).output && invoke(b) }.ask("go")
    assert_predicate run, :completed?, run.error.inspect
    assert_equal [[:open, "a"], [:close, "a"]] * 2 + [[:open, "b"], [:close, "b"]], log
  end

  def test_one_given_up_before_it_is_ready_is_closed
    log = []
    tool = define_tool("note") { |_| nil }
    tool.define_method(:close) { log << :closed }
    slow = participant("slow") do
      tools tool
      system_prompt { sleep 0.1 and "late" }
    end
    last = echo("last")
    flow = workflow do
      invoke(slow, timeout: 0.02).output
    rescue LittleGhost::AssemblyStepTimeoutError
      log << :given_up
      invoke(last)
    end
    run = flow.ask("go")
    assert_equal ["last: go", [:closed, :given_up]], [run.response, log], run.error.inspect
    broken = participant("broken") do
      tools tool
      system_prompt { raise IOError, "no prompt" }
    end
    assert_instance_of IOError, workflow { invoke(broken) }.ask("go").error
    assert_equal [:closed, :given_up, :closed], log
  end

  def test_a_tool_that_is_registered_late_is_closed
    closed = []
    late = define_tool("late") { |_| nil }
    late.define_method(:close) { closed << :late }
    agent = participant("agent", "fine") { before_invocation { |_| tool_registry.register(late) && nil } }
    assert_predicate agent.ask("go"), :completed?
    assert_predicate workflow { invoke(agent) }.ask("go"), :completed?
    assert_equal %i[late late], closed
  end

  def test_one_that_does_not_close_fails_the_run
    agent = participant("agent", "fine") { define_method(:close) { raise IOError, "stuck" } }
    run, events = streamed(workflow { invoke(agent) })
    assert_instance_of IOError, run.error
    assert_equal true, events.find { |event| event.type == :assembly_step_error }.data[:terminal]
  end

  def test_requests_are_told_apart
    invocations = []
    chosen = LittleGhost::Testing::ScriptedModel.new("fine", repeat: true)
    agent = Class.new(LittleGhost::Agent) do
      agent_id "agent"
      system_prompt { |locals| "#{locals[:invocation].message.text} by #{locals[:run].invocation.message.text}" }
      model { |invocation| invocations.push(invocation) && chosen }
    end
    workflow { invoke(agent, input: "inner", context: {a: 1}) }.ask("outer", settings: {temperature: 0.5}, tenant: "t")
    invocation = invocations.first
    assert_equal ["inner", {"a" => 1}, {"temperature" => 0.5}, "t"],
      [invocation.message.text, invocation.context, invocation.settings, invocation["tenant"]]
    assert_equal "inner by outer", chosen.requests.first.messages.first.text
  end

  def test_parts_of_providers_are_those_of_the_participant
    transport = Class.new do
      def initialize(text) = @text = text

      def stream(**)
        events = [{choices: [{index: 0, delta: {content: @text}}]}, {choices: [{index: 0, delta: {}, finish_reason: "stop"}]}]
        events.each { |event| yield "data: #{JSON.generate(event)}\n\n" }
        yield "data: [DONE]\n\n"
      end
    end
    agents = %w[a b].map do |id|
      speaker(id, LittleGhost::Providers::OpenAICompatible.new(
        api_key: "test-key", model: "m", base_url: "https://models.example.test/v1", api: :chat_completions, transport: transport.new("I am #{id}")
      ))
    end
    last = echo("last")
    run = workflow { invoke(last, input: parallel(*agents.map { |agent| invoke(agent) }).join(", ")) }.ask("go")
    assert_equal "last: I am a, I am b", run.response, run.error.inspect
  end

  def test_an_interjection_reaches_the_one_agent_at_work
    entered = Queue.new
    go_on = Queue.new
    waits = define_tool("waits") { |_| entered << true and go_on.pop(timeout: 5) }
    agent = participant("agent", {tool: "waits", input: {}}, ->(request) { "heard #{request.messages.last.text}" }) { tools waits }
    first = echo("first")
    execution = workflow { invoke(first).output && invoke(agent) }.new.start_execution({message: "go"})
    entered.pop(timeout: 5)
    queued = Queue.new
    execution.run.instance_variable_get(:@handle).define_singleton_method(:interject) { |fields| super(fields).tap { queued << true } }
    said = Thread.new { execution.interject(message: "the ledger") }
    queued.pop(timeout: 5)
    go_on << true
    assert_includes said.value.text, "the ledger"
    assert_predicate execution.wait, :completed?
  end

  def test_an_assembly_serves_as_a_tool
    leaf = echo("leaf")
    tool = workflow("inner") { invoke(leaf) }.new.as_tool(name: "inner", description: "Asks.")
    provider = Class.new { define_singleton_method(:tools) { |_binding| [tool] } }
    outer = participant("outer", {tool: "inner", input: {input: "question"}}, ->(request) { request.messages.last.content.first.content }) { tools provider }
    assert_equal "leaf: question", outer.ask("go").response
  end
end
