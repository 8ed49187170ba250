# frozen_string_literal: true

require_relative "../test_helper"
require "async"

class ExecutionTest < Minitest::Test
  include ScriptedRuns

  def test_runs_in_the_background
    scenario = script({chat: {text: ["a", {wait_for: "go"}, "b"]}})
    events = Thread::Queue.new
    execution = agent_for(scenario).start_execution({message: "hi"}) { |event| events << [Thread.current, event] }
    event = nil
    thread, event = events.pop(timeout: 5) until event&.type == :text_delta
    refute_same Thread.current, thread
    assert_equal [:running, true, false], [execution.state, execution.active?, execution.finished?]
    assert_raises(LittleGhost::DeadlineExceededError) { execution.wait(deadline: Time.now) }
    scenario.signal("go")
    run = execution.wait(deadline: Time.now + 5)
    assert_same execution.run, run
    assert_equal ["ab", :finished, nil], [run.response, execution.state, execution.error]
    assert_same run, execution.wait
  end

  def test_close_cancels_and_waits
    scenario = silent_script
    execution = agent_for(scenario).start_execution({"message" => "hi"})
    scenario.wait(requests: 1)
    run = execution.close
    assert_predicate run, :cancelled?
    assert_same execution, execution.cancel
    scenario.wait(disconnects: 1)
  end

  def test_the_consumers_exception_is_raised_from_wait
    problem = RuntimeError.new("mine")
    execution = scripted_agent("a").start_execution({message: "hi"}) { raise problem }
    assert_same problem, assert_raises(RuntimeError) { execution.wait }
    assert_same problem, execution.error
    assert_predicate execution.run, :failed?
  end

  def test_a_scheduled_fiber_under_async
    threads = []
    Sync do
      executions = 3.times.map do
        scripted_agent("a").start_execution({message: "hi"}) { threads << Thread.current }
      end
      assert_equal %w[a a a], executions.map { |execution| execution.wait.response }
    end
    assert_equal [Thread.current], threads.uniq
  end

  def test_bad_input_raises_at_once
    assert_raises(LittleGhost::InvocationError) { agent_for(silent_script).start_execution({message: ""}) }
  end
end
