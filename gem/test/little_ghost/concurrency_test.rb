# frozen_string_literal: true

require_relative "../test_helper"
require "async"

# Tool calls that overlap, on threads and on scheduled fibers.
class ConcurrencyTest < Minitest::Test
  include ScriptedRuns

  # A batch of +count+ calls whose bodies only return once all of them have begun.
  def meeting(count)
    script(tool_calls(*(1..count).map { |n| ["meet", {n: n}] }), {chat: {text: "met"}})
  end

  def meeting_tool(places, count)
    gate = Thread::Queue.new
    arrived = 0
    define_tool("meet", n: {type: "integer"}) do |input|
      places << [Thread.current, Fiber.current]
      arrived += 1
      count.times { gate << true } if arrived == count
      gate.pop(timeout: 5) or raise "the calls did not overlap"
      input["n"]
    end
  end

  def test_a_batch_overlaps_on_threads
    places = []
    run = agent_for(meeting(8), meeting_tool(places, 8)).ask("go")
    assert_equal "met", run.response, run.error.inspect
    assert_equal 8, places.map(&:first).uniq.length
    refute_includes places.map(&:first), Thread.current
  end

  def test_a_batch_overlaps_on_scheduled_fibers
    places = []
    run = Sync { agent_for(meeting(8), meeting_tool(places, 8)).ask("go") }
    assert_equal "met", run.response, run.error.inspect
    assert_equal [Thread.current], places.map(&:first).uniq
    assert_equal 8, places.map(&:last).uniq.length
  end

  def test_the_thread_backend_wins_over_a_scheduler
    places = []
    run = Sync { agent_for(meeting(2), meeting_tool(places, 2), concurrency_backend: :thread).ask("go") }
    assert_equal "met", run.response
    refute_includes places.map(&:first), Thread.current
  end

  def test_the_fiber_backend_needs_a_scheduler
    agent = agent_for(meeting(2), meeting_tool([], 2), concurrency_backend: :fiber)
    error = assert_raises(LittleGhost::ConfigurationError) { agent.ask("go") }
    assert_match(/scheduled fiber/, error.message)
    assert_raises(LittleGhost::ConfigurationError) { agent.start_execution({message: "go"}) }
    assert_equal "met", Sync { agent.ask("go").response }
  end

  def test_exclusive_tools_run_on_the_callers_thread
    places = []
    tool = define_tool("meet", exclusive: true, n: {type: "integer"}) { |input| places << Thread.current && input["n"] }
    run = agent_for(meeting(3), tool).ask("go")
    assert_equal "met", run.response
    assert_equal [Thread.current], places.uniq
  end

  def test_failures_stay_with_their_call
    tool = define_tool("meet", n: {type: "integer"}) do |input|
      raise LittleGhost::ToolError, "not #{input["n"]}" if input["n"].odd?

      input["n"]
    end
    results = {}
    agent_for(meeting(4), tool).stream_ask("go").each do |event|
      results[event.data[:tool_use].input["n"]] = event.data[:result] if event.type == :tool_stop
    end
    assert_equal ["not 1", "2", "not 3", "4"], results.sort.map { |_, result| result.content }
    assert_equal %i[error success error success], results.sort.map { |_, result| result.status }
  end

  def test_a_cancelled_call_is_told
    told = Thread::Queue.new
    tool = define_tool("meet", n: {type: "integer"}) do |input, context:|
      raise LittleGhost::CancelledError, "enough" if input["n"] == 1

      told << context.cancellation_token.wait(5)
    end
    run = agent_for(meeting(2), tool).ask("go")
    assert_predicate run, :cancelled?
    assert told.pop(timeout: 5)
  end

  def test_exit_in_a_tools_thread_reaches_the_caller
    tool = define_tool("meet", n: {type: "integer"}) { |input| input["n"] == 1 ? exit(3) : input["n"] }
    agent = agent_for(meeting(2), tool)
    assert_equal 3, assert_raises(SystemExit) { agent.ask("go") }.status
  end

  def test_a_failed_assertion_in_a_tools_thread_reaches_the_caller
    tool = define_tool("meet", n: {type: "integer"}) { |input| input["n"] == 1 ? flunk("no") : input["n"] }
    agent = agent_for(meeting(2), tool)
    assert_raises(Minitest::Assertion) { agent.ask("go") }
  end

  def test_a_killed_tool_thread_is_a_failed_call
    tool = define_tool("meet", n: {type: "integer"}) { |input| input["n"] == 1 ? Thread.current.kill : input["n"] }
    run = agent_for(meeting(2), tool).ask("go")
    assert_equal "met", run.response
  end

  def test_many_runs_under_async_share_a_thread
    scenario = script({chat: {text: ["first", {wait_for: "go"}, " second"]}}, cycle: true)
    agent = agent_for(scenario)
    waiting = 0
    responses = Sync do |task|
      tasks = 20.times.map do
        task.async do
          agent.stream_ask("hi").each do |event|
            waiting += 1 if event.type == :text_delta && event.data[:text] == "first"
            scenario.signal("go") if waiting == 20
          end.response
        end
      end
      tasks.map(&:wait)
    end
    assert_equal ["first second"], responses.uniq
  end

  def test_stepping_through_a_stream_under_async
    texts = Sync do
      stream = agent_for(script({chat: {text: %w[a b c]}})).stream_ask("hi")
      found = []
      loop { found << stream.next }
      found.filter_map { |event| event.data[:text] if event.type == :text_delta }
    end
    assert_equal %w[a b c], texts
  end
end
