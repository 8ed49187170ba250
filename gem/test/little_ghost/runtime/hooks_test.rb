# frozen_string_literal: true

require_relative "../../test_helper"

class RuntimeHooksTest < Minitest::Test
  include ScriptedRuns

  LOG = []

  class First < LittleGhost::Runtime::Hook
    def prepare_run(run)
      LOG << :prepare_run
      run.register { LOG << :closed }
      run
    end

    def prepare_execution(run)
      LOG << [:prepare_execution, run.outcome]
      raise KeyError, "refused" if run.invocation.message.text == "refuse"
    end

    def error_message(error, _run) = (error.is_a?(KeyError) ? "Not you." : nil)
  end

  class Second < LittleGhost::Runtime::Hook
    def error_message(_error, _run) = "Second"
  end

  def setup = LOG.clear

  def test_a_run_is_prepared
    agent = agent_for(script({chat: {text: "a"}}), runtime_hooks: [First]) { system_prompt { LOG << :build; "" } }
    assert_predicate agent.ask("hi"), :completed?
    assert_equal [:prepare_run, [:prepare_execution, nil], :build, :closed], LOG
  end

  def test_messages_of_errors
    agent = agent_for(script({status: 400}), runtime_hooks: [First, Second])
    events = []
    run = agent.stream_ask("refuse").each { |event| events << event }
    assert_instance_of KeyError, run.error
    assert_equal "Not you.", events.last.data[:message]
    agent.stream_ask("hi").each { |event| events << event }
    assert_equal "Second", events.last.data[:message]
    assert_equal :closed, LOG.last
  end

  def test_interjections_must_stay_hashes
    hook = Class.new(LittleGhost::Runtime::Hook) { def prepare_interjection(_run, payload) = payload[:message] }
    hooks = LittleGhost::Runtime::Hooks.new([LittleGhost::Runtime::Hook, hook])
    assert_raises(LittleGhost::InvocationError) { hooks.prepare_interjection(nil, {message: "a"}) }
    assert_equal [true, false], [hooks.any?(:prepare_interjection), hooks.any?(:session_history)]
  end

  def test_a_history_is_an_array_of_messages
    hook = Class.new(LittleGhost::Runtime::Hook) { def session_history(*, **) = "all of it" }
    error = agent_for(script({chat: {text: "a"}}), runtime_hooks: [hook]).ask("hi").error
    assert_match(/session_history must return an Array of Messages or nil, got String/, error.message)
  end
end
