# frozen_string_literal: true

require_relative "../test_helper"
require "async"

# However the caller leaves a run, it is back, the socket is closed and the resources are too. The server never goes on, so
# that nobody comes back who waits for it.
class LeavingTest < Minitest::Test
  include ScriptedRuns

  def setup
    @scenario = silent_script
    @agent = agent_for(@scenario)
    @agent.ask("warm up", deadline_at: Time.now + 0.2)
  end

  # The moment of the last event before the silence.
  def until_silence(stream)
    stream.each { |event| yield event if event.type == :text_delta }
  end

  def assert_disconnected
    requests = @scenario.wait(disconnects: 2)
    assert_equal 2, requests.count { |request| request["disconnected_ms"] }
  end

  def test_break
    closed = []
    stream = @agent.stream_ask("hi")
    stream.run.register { closed << :resource }
    value = until_silence(stream) { break :left }
    assert_equal [:left, "cancelled", [:resource]], [value, stream.run.outcome, closed]
    assert_instance_of LittleGhost::CancelledError, stream.run.error
    assert_disconnected
  end

  def test_throw
    assert_equal(:caught, catch(:done) { until_silence(@agent.stream_ask("hi")) { throw :done, :caught } })
    assert_disconnected
  end

  def test_an_exception_of_the_consumer
    problem = IOError.new("client went away")
    stream = @agent.stream_ask("hi")
    raised = assert_raises(IOError) { until_silence(stream) { raise problem } }
    assert_same problem, raised
    assert_same problem, stream.run.error
    assert_predicate stream.run, :failed?
    assert_disconnected
  end

  def test_first
    assert_equal %i[run_start invocation_start], @agent.stream_ask("hi").first(2).map(&:type)
  end

  def test_timeout
    stream = @agent.stream_ask("hi")
    assert_raises(Timeout::Error) { Timeout.timeout(0.2) { stream.each {} } }
    assert_predicate stream.run, :cancelled?
    assert_disconnected
  end

  def test_timeout_in_ask
    assert_raises(Timeout::Error) { Timeout.timeout(0.2) { @agent.ask("hi") } }
    assert_disconnected
  end

  def test_kill
    silent = Thread::Queue.new
    stream = @agent.stream_ask("hi")
    thread = Thread.new { until_silence(stream) { silent << true } }
    silent.pop
    thread.kill
    assert thread.join(PATIENCE)
    assert_predicate stream.run, :cancelled?
    assert_disconnected
  end

  def test_a_second_interrupt_while_winding_down
    silent = Thread::Queue.new
    closing = Thread::Queue.new
    release = Thread::Queue.new
    closed = []
    stream = @agent.stream_ask("hi")
    stream.run.register { closed << :first }
    stream.run.register do
      closing << true
      release.pop
      closed << :second
    end
    thread = Thread.new { until_silence(stream) { silent << true } }
    thread.report_on_exception = false
    silent.pop
    thread.raise(IOError, "one")
    closing.pop
    thread.raise(KeyError, "two")
    thread.kill
    release << true
    assert thread.join(PATIENCE)
    assert_equal %i[second first], closed
    assert_predicate stream.run, :cancelled?
    assert_disconnected
  rescue KeyError, IOError
    assert_equal %i[second first], closed
  end

  def test_a_dropped_enumerator
    step_and_forget
    200.times do
      GC.start
      break if @scenario.requests.count { |request| request["disconnected_ms"] } == 2

      clear_stack(60)
    end
    assert_disconnected
  end

  def step_and_forget
    Thread.new do
      stream = @agent.stream_ask("hi")
      event = stream.next until event&.type == :text_delta
      assert_equal event, event.dup
      nil
    end.join
  end

  # Overwrites what the conservative collector might still see.
  def clear_stack(depth)
    depth.zero? ? nil : clear_stack(depth - 1)
  end

  def test_other_threads_go_on
    counted = 0
    counting = true
    counter = Thread.new { counted += 1 while counting }
    assert_raises(Timeout::Error) { Timeout.timeout(0.2) { @agent.ask("hi") } }
    counting = false
    counter.join
    assert_operator counted, :>, 10_000
  end

  def test_two_runs_under_async
    ticks = 0
    streams = [@agent.stream_ask("one"), @agent.stream_ask("two")]
    Sync do |task|
      ticker = task.async do
        loop do
          sleep 0.001
          ticks += 1
        end
      end
      silent = 0
      tasks = streams.map { |stream| task.async { until_silence(stream) { silent += 1 } } }
      sleep 0.001 until silent == 2
      before = ticks
      sleep 0.001 until ticks > before + 5
      tasks.each(&:stop)
      tasks.each(&:wait)
      ticker.stop
    end
    assert_equal %w[cancelled cancelled], streams.map { |stream| stream.run.outcome }
    assert_equal 3, @scenario.wait(disconnects: 3).length
  end

  def test_an_inline_tool_may_be_interrupted
    began = Thread::Queue.new
    scenario = script(tool_calls(["block", {}]), cycle: true)
    agent = agent_for(scenario, define_tool("block") { began << true and sleep })
    thread = Thread.new { agent.ask("go") }
    began.pop
    thread.kill
    assert thread.join(PATIENCE)
    Timeout.timeout(5) do
      assert_raises(Timeout::Error) { Timeout.timeout(0.1) { agent.ask("go") } }
    end
  end

  def test_exit_in_an_inline_tool_is_not_swallowed
    scenario = script(tool_calls(["leave", {}]), cycle: true)
    assert_equal 4, assert_raises(SystemExit) { agent_for(scenario, define_tool("leave") { exit 4 }).ask("go") }.status
    assert_raises(Interrupt) { agent_for(scenario, define_tool("leave") { raise Interrupt }).ask("go") }
    run = agent_for(script(tool_calls(["leave", {}]), {chat: {text: "ok"}}), define_tool("leave") { raise NotImplementedError }).ask("go")
    assert_equal "ok", run.response
  end
end
