# frozen_string_literal: true

require_relative "../../test_helper"

class RunTelemetryTest < Minitest::Test
  include ScriptedRuns

  class Recorder < LittleGhost::Instrumentation::Subscriber
    attr_reader :seen

    def initialize = @seen = []

    %i[start finish emit].each { |phase| define_method(phase) { |name, attributes| @seen << [phase, name, attributes] } }

    def trace_context(**attributes) = {"traceparent" => "for #{attributes[:operation_id]}"}

    def named(phase, name) = @seen.filter_map { |seen, operation, attributes| attributes if seen == phase && operation == name }
  end

  def observe(scenario, *tools, **settings, &declarations)
    recorder = Recorder.new
    events = []
    run = LittleGhost::Instrumentation.subscribed(recorder) do
      agent_for(scenario, *tools, **settings, &declarations).stream_ask("hi secret", session_id: "s").each { |event| events << event }
    end
    [recorder, run, events]
  end

  def echo = define_tool("echo") { LittleGhost::Instrumentation.publish(:inside, kind: "a") }

  def test_operations
    recorder, run, = observe(script(tool_calls(["echo", {}]), {chat: {text: "done"}}), echo)
    operations = recorder.seen.filter_map { |phase, name, _| name if phase == :finish && name != :runtime }
    assert_equal({run: 1, agent: 1, agent_turn: 2, model: 2, tool: 1}, operations.tally.sort_by { |name, _| %i[run agent agent_turn model tool].index(name) }.to_h)
    finish = recorder.named(:finish, :run).first
    assert_equal [run.operation_id, run.invocation.run_id, "s", :completed], finish.values_at(:operation_id, :run_id, :session_id, :outcome)
    assert_operator finish[:duration_ms], :>=, 0
    tool = recorder.named(:finish, :tool).first
    assert_equal ["echo", :success, "tester"], tool.values_at(:tool_name, :outcome, :agent_id)
    assert_equal [["a", run.invocation.run_id]], recorder.named(:emit, :inside).map { |attributes| attributes.values_at(:kind, :run_id) }
    refute_match(/secret/, recorder.seen.inspect)
  end

  def test_a_run_within_an_operation_of_the_application
    recorder = Recorder.new
    outer = nil
    LittleGhost::Instrumentation.subscribed(recorder) do
      LittleGhost::Instrumentation.instrument(:job) do
        outer = LittleGhost::Instrumentation.current.operation_id
        agent_for(script({chat: {text: "a"}})).ask("hi")
      end
    end
    start = recorder.named(:start, :run).first
    assert_equal [outer, "little-ghost", :agent], start.values_at(:parent_operation_id, :service_name, :entrypoint_kind)
  end

  def test_operations_end_for_a_consumer_that_leaves
    recorder = Recorder.new
    LittleGhost::Instrumentation.subscribed(recorder) do
      agent_for(script({chat: {text: ["a", "b"]}})).stream_ask("hi").each { |event| break if event.type == :text_delta }
    end
    assert_equal 1, recorder.named(:finish, :run).size
    started, finished = %i[start finish].map { |phase| recorder.seen.filter_map { |seen, name, _| name if seen == phase && name != :runtime }.sort }
    assert_equal started, finished
  end

  def test_captured_content
    bus = LittleGhost::Instrumentation.notifier
    bus.capture_content(LittleGhost::Support::ContentCapture.new(enabled: true, redactions: ["secret-value"]))
    recorder, = observe(script({chat: {text: "secret-value"}}))
    content = recorder.named(:start, :model).first.fetch(:diagnostic_input)
    assert_match(/hi secret/, content)
    refute_match(/secret-value/, recorder.seen.inspect)
    assert_match(/\[REDACTED\]/, recorder.named(:finish, :model).first.fetch(:diagnostic_output))
    recorder, = observe(script({chat: {text: "a"}})) { capture_diagnostics false }
    refute(recorder.named(:start, :model).first.key?(:diagnostic_input))
  ensure
    bus.capture_content(LittleGhost::Support::ContentCapture.disabled)
  end

  def test_the_trace_context_is_an_event
    _, run, events = observe(script({chat: {text: "a"}}))
    assert_equal %i[run_start trace_context invocation_start], events.map(&:type).first(3)
    assert_equal({"traceparent" => "for #{run.operation_id}"}, events[1].data[:context])
  end

  def test_whose_event_it_is
    agent = agent_for(script({chat: {text: "a"}}, cycle: true))
    events = []
    run = agent.stream_ask("hi", include_agent_events: true).each { |event| events << event }
    wrapped = events.select { |event| event.type == :agent_stream }
    assert_equal events.reject { |event| %i[agent_stream run_start run_stop].include?(event.type) }.map(&:type), wrapped.map { |event| event.data[:event].type }
    source = wrapped.first.data[:source]
    assert_equal ["tester", "/root", [], run.operation_id], [source.agent_id, source.agent_path, source.assembly_path, source.parent_operation_id]
    assert_equal "hi", wrapped.first.data[:input].text
    assert_equal "a", wrapped.last.data[:event].data[:result].text
    assert(wrapped.all? { |event| event.data[:event].data.frozen? })
    plain = agent.stream_ask("hi").each { |event| refute_equal :agent_stream, event.type }
    assert_predicate plain, :completed?
  end
end
