# frozen_string_literal: true

require_relative "../test_helper"

class InterjectionTest < Minitest::Test
  include ScriptedRuns

  # Starts an agent whose tool waits; yields the execution once the tool is at work, then lets it go on.
  def busy(*answers, hooks: [])
    entered = Thread::Queue.new
    go_on = Thread::Queue.new
    waiting = define_tool("waits") { entered << true; go_on.pop }
    scenario = script(tool_calls(["waits", {}]), *answers.map { |text| {chat: {text: text}} })
    execution = agent_for(scenario, waiting, runtime_hooks: hooks).start_execution({message: "start"})
    queued = @queued = Thread::Queue.new
    execution.run.instance_variable_get(:@handle).define_singleton_method(:interject) { |fields| super(fields).tap { queued << true } }
    entered.pop
    [execution, go_on, scenario]
  end

  def test_the_answer_reaches_who_interjected
    execution, go_on, scenario = busy("to the interjection", "final")
    caller = Thread.new { execution.interject(message: "Include the ledger", interjection_id: "i-1", metadata: {by: "u"}) }
    go_on << 1 if queued?(caller)
    answer = caller.value
    assert_equal ["to the interjection", false, ["i-1"], nil], [answer.text, answer.tool_calls?, answer.interjection_ids, answer.batch_key]
    run = execution.wait
    assert_predicate run, :completed?, run.error.inspect
    assert_match(/Include the ledger/, scenario.requests[1]["body"]["messages"].last["content"].to_s)
  end

  def test_hooks_prepare_it
    hook = Class.new(LittleGhost::Runtime::Hook) do
      def prepare_interjection(_run, payload)
        payload.merge(message: "#{payload[:message]} (#{payload[:extra]})")
      end
    end
    execution, go_on, scenario = busy("answer", "final", hooks: [hook])
    caller = Thread.new { execution.interject({message: "hello", extra: "checked"}) }
    go_on << 1 if queued?(caller)
    caller.value
    execution.wait
    assert_match(/hello \(checked\)/, scenario.requests[1]["body"]["messages"].last["content"].to_s)
  end

  def test_waiting_ends
    execution, go_on, = busy("answer")
    token = LittleGhost::Support::CancellationToken.new
    caller = Thread.new { execution.interject("hello", cancellation_token: token) }
    caller.report_on_exception = false
    token.cancel if queued?(caller)
    assert_raises(LittleGhost::CancelledError) { caller.value }
    assert_raises(LittleGhost::DeadlineExceededError) { execution.interject("hello", deadline: Time.now + 0.05) }
    go_on << 1
    assert_predicate execution.wait, :completed?
  end

  def test_when_there_is_nobody_to_answer
    run = agent_for(script({chat: {text: "a"}})).runtime.build_run({message: "hi"}, entrypoint_class: agent_class)
    assert_raises(LittleGhost::AgentInterjectionError) { run.interject("early") }
    run.close
    finished = agent_for(script({chat: {text: "a"}})).start_execution({message: "hi"})
    finished.wait
    assert_raises(LittleGhost::AgentInterjectionError) { finished.interject("late") }
    finished.close
    assert_match(/closing/, assert_raises(LittleGhost::AgentInterjectionError) { finished.interject("later") }.message)
    assert_raises(LittleGhost::AgentInterjectionError) { LittleGhost::Agent.new.interject("alone") }
  end

  def test_unusable_messages
    execution, go_on, = busy("final")
    tool_use = LittleGhost::Content::ToolUse.new(id: "a", name: "b", input: {})
    [" ", nil, [tool_use]].each { |message| assert_raises(ArgumentError, message.inspect) { execution.interject(message) } }
    assert_raises(ArgumentError) { execution.interject(interjection_id: "x") }
    go_on << 1
    execution.wait
  end

  private

  # Waits until the engine has what +thread+ says; true unless it was refused.
  def queued?(thread)
    @queued.pop(timeout: 5) || flunk("#{thread.inspect} did not interject")
  end
end
