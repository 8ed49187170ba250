# frozen_string_literal: true

require_relative "../test_helper"

class InstrumentationTest < Minitest::Test
  Bus = LittleGhost::Instrumentation::Bus

  class Recorder < LittleGhost::Instrumentation::Subscriber
    attr_reader :seen

    def initialize = @seen = []

    def start(name, attributes) = @seen << [:start, name, attributes]

    def finish(name, attributes) = @seen << [:finish, name, attributes]

    def emit(name, attributes) = @seen << [:emit, name, attributes]
  end

  def setup
    @recorder = Recorder.new
    @bus = Bus.new(subscribers: [@recorder])
  end

  def test_operations_are_nested
    outer = @bus.start(:run, run_id: "r")
    inner = @bus.start(:agent)
    assert_equal [outer, outer.operation_id, true, inner], [inner.previous, inner.parent_operation_id, inner.local_parent?, @bus.current]
    @bus.publish(:retry, attempt: 1)
    inner.finish(outcome: :completed)
    final = outer.finish(outcome: :failed)
    assert_equal ["r", :failed, outer.operation_id], final.values_at(:run_id, :outcome, :operation_id)
    assert_operator final[:duration_ms], :>=, 0
    assert_equal [%i[start run], %i[start agent], %i[emit retry], %i[finish agent], %i[finish run]], @recorder.seen.map { |phase, name, _| [phase, name] }
    assert_equal inner.operation_id, @recorder.seen[2][2][:operation_id]
    refute_predicate @bus, :active?
    assert_nil @bus.current
  end

  def test_the_order_is_kept
    outer = @bus.start(:run)
    inner = @bus.start(:agent)
    assert_raises(LittleGhost::Error) { outer.finish }
    assert_raises(LittleGhost::Error) { Thread.new { inner.tap { |handle| handle.finish } }.tap { |thread| thread.report_on_exception = false }.value }
    detached = @bus.start(:tool, detached: true, parent: inner)
    assert_equal inner, @bus.current
    assert_raises(LittleGhost::Error) { inner.finish }
    Thread.new { detached.finish }.join
    inner.finish
    outer.finish
    assert_raises(ArgumentError) { outer.finish }
    assert_raises(ArgumentError) { Bus.new.finish(outer) }
  end

  def test_ids
    remote = @bus.start(:run, parent: "elsewhere", operation_id: "one")
    assert_equal ["elsewhere", "one", false], [remote.parent_operation_id, remote.operation_id, remote.local_parent?]
    assert_raises(ArgumentError) { @bus.start(:run, operation_id: "one") }
    remote.finish
    alone = @bus.start(:run, parent: nil)
    assert_nil alone.parent_operation_id
    alone.finish
  end

  def test_blocks
    value = @bus.instrument(:work, kind: "a") { |payload| payload[:count] = 2 }
    problem = assert_raises(KeyError) { @bus.instrument(:work) { raise KeyError, "secret" } }
    assert_equal 2, value
    assert_equal "secret", problem.message
    ends = @recorder.seen.select { |phase, _, _| phase == :finish }.map(&:last)
    assert_equal [["a", 2, nil], [nil, nil, "KeyError"]], ends.map { |attributes| attributes.values_at(:kind, :count, :error_type) }
    refute_match(/secret/, ends.inspect)
  end

  def test_context
    @bus.with_context("run_id" => "r") do
      assert_equal({run_id: "r"}, @bus.context)
      Thread.new { @bus.publish(:point, a: 1) }.join
    end
    @bus.publish(:point)
    assert_equal [{run_id: "r", a: 1}, {}], @recorder.seen.map(&:last)
  end

  def test_broken_subscribers_are_reported_once
    broken = Class.new(LittleGhost::Instrumentation::Subscriber) { def emit(*) = raise("broken") }.new
    @bus.subscribe(broken, prepend: true)
    events = []
    listener = Object.new
    listener.define_singleton_method(:emit) { |event| events << event }
    LittleGhost::Events.subscribed(listener) { 2.times { @bus.publish(:point) } }
    assert_equal ["little_ghost.instrumentation.listener_failed"], events.map { |event| event[:name] }
    assert_equal "RuntimeError", events.first[:payload][:error_type]
    assert_equal 2, @recorder.seen.length
    @bus.unsubscribe(broken)
    @bus.subscribe(@recorder)
    @bus.publish(:point)
    assert_equal 3, @recorder.seen.length
  end

  def test_each_subscriber_has_its_own_copy
    changing = Class.new(LittleGhost::Instrumentation::Subscriber) { def emit(_name, attributes) = attributes[:list] << "changed" }.new
    @bus.subscribe(changing, prepend: true)
    @bus.publish(:point, list: ["a"])
    assert_equal ["a"], @recorder.seen.last.last[:list]
  end

  def test_trace_context_flush_and_shutdown
    tracing = Class.new(LittleGhost::Instrumentation::Subscriber) do
      attr_reader :calls

      def trace_context(**attributes) = {"traceparent" => attributes[:operation_id]}

      def flush(timeout: nil) = (@calls ||= []) << [:flush, timeout]

      def shutdown(timeout: nil) = (@calls ||= []) << [:shutdown, timeout]
    end.new
    @bus.subscribe(tracing)
    assert_equal({"traceparent" => "o"}, @bus.trace_context(operation_id: "o"))
    assert_equal({}, Bus.new.trace_context)
    @bus.flush(timeout: 5)
    handle = @bus.start(:run)
    assert_raises(LittleGhost::Error) { @bus.shutdown }
    handle.finish
    @bus.shutdown
    assert_equal %i[flush shutdown], tracing.calls.map(&:first)
    assert_in_delta 5, tracing.calls.first.last, 1
    assert_raises(LittleGhost::Error) { @bus.start(:run) }
  end

  def test_the_process_wide_bus
    before = LittleGhost::Instrumentation.notifier
    LittleGhost::Instrumentation.notifier = @bus
    LittleGhost::Instrumentation.subscribed(other = Recorder.new) { LittleGhost::Instrumentation.publish(:point) }
    LittleGhost::Instrumentation.publish(:later)
    assert_equal [[:point], %i[point later]], [other, @recorder].map { |recorder| recorder.seen.map { |_, name, _| name } }
    handle = LittleGhost::Instrumentation.start(:run)
    assert_same handle, LittleGhost::Instrumentation.current
    assert_raises(LittleGhost::Error) { LittleGhost::Instrumentation.notifier = Bus.new }
    handle.finish
  ensure
    LittleGhost::Instrumentation.notifier = before
  end

  def test_a_runtime_subscribes_what_is_configured
    LittleGhost::Configuration.new(instrumentation_subscribers: [@recorder], service_name: "shop").runtime
    assert_includes @recorder.seen.map { |phase, name, attributes| [phase, name, attributes[:service_name]] }, [:finish, :runtime, "shop"]
  ensure
    LittleGhost::Instrumentation.unsubscribe(@recorder)
  end

  def test_what_is_no_subscriber_or_bus_says_so
    bus = LittleGhost::Instrumentation::Bus.new
    error = assert_raises(ArgumentError) { bus.subscribe(LittleGhost::Instrumentation::Subscriber) }
    assert_match(/pass an instance/, error.message)
    assert_raises(ArgumentError) { bus.subscribed(5) {} }
    assert_raises(ArgumentError) { LittleGhost::Instrumentation.notifier = 5 }
  end
end
