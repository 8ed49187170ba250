# frozen_string_literal: true

require_relative "../test_helper"
require "stringio"

class EventsTest < Minitest::Test
  Reporter = LittleGhost::Events::Reporter

  class Collector
    attr_reader :events

    def initialize = @events = []

    def emit(event) = @events << event
  end

  def setup
    @reporter = Reporter.new
    @collector = Collector.new
  end

  def test_what_an_event_is
    @reporter.subscribe(@collector)
    returned = @reporter.with_context(tenant: "t") { @reporter.emit("warn", :stalled, case_id: "42", list: [1, nil, true]) }
    event = @collector.events.first
    assert_equal ["stalled", :warn, {case_id: "42", list: [1, nil, true]}, {tenant: "t"}], event.values_at(:name, :level, :payload, :context)
    assert_kind_of Integer, event[:timestamp]
    assert_equal event, returned
    refute_same event, returned
    assert_equal({}, @reporter.context)
  end

  def test_copies_are_detached
    other = Collector.new
    [@collector, other].each { |listener| @reporter.subscribe(listener) }
    payload = {list: [+"a"]}
    @reporter.emit(:info, "x", payload)
    payload[:list] << "b"
    @collector.events.first[:payload][:list].first << "changed"
    assert_equal({list: ["a"]}, other.events.first[:payload])
  end

  def test_filters_and_unsubscribing
    @reporter.subscribe(@collector) { |event| event[:level] == :error }
    @reporter.emit(:info, "a")
    @reporter.emit(:error, "b")
    @reporter.unsubscribe(@collector)
    @reporter.emit(:error, "c")
    assert_equal ["b"], @collector.events.map { |event| event[:name] }
  end

  def test_broken_listeners_break_nothing
    broken = Object.new
    def broken.emit(_event) = raise("broken")
    reporter = Reporter.new(listeners: [broken, @collector])
    reporter.subscribe(@collector) { raise "filter" }
    reporter.emit(:info, "a")
    assert_equal 1, @collector.events.length
    assert_raises(ArgumentError) { reporter.subscribe(Object.new) }
  end

  def test_payloads_are_json
    deep = {}
    102.times.inject(deep) { |hash, _| hash[:a] = {} }
    cycle = []
    cycle << cycle
    [{a: Object.new}, {a: Float::NAN}, {a: Time.now}, {1 => 2}, {a: cycle}, deep, "text"].each do |payload|
      assert_raises(ArgumentError, payload.class) { @reporter.emit(:info, "a", payload) }
    end
    assert_raises(ArgumentError) { @reporter.emit(:fatal, "a") }
  end

  def test_context_stays_in_its_execution
    @reporter.with_context(a: 1) do
      assert_equal({a: 1, b: 2}, @reporter.with_context("b" => 2) { @reporter.context.transform_keys(&:to_sym) })
      assert_equal({a: 1}, Thread.new { @reporter.context }.value)
    end
    thread = Thread.new { @reporter.with_context(other: 1) { @reporter.context } }
    assert_equal [{other: 1}, {}], [thread.value, @reporter.context]
  end

  def test_the_process_wide_reporter
    before = LittleGhost::Events.reporter
    LittleGhost::Events.reporter = @reporter
    LittleGhost::Events.subscribed(@collector) { LittleGhost::Events.warn("a", b: 1) }
    LittleGhost::Events.warn("later")
    assert_equal [["a", {b: 1}]], @collector.events.map { |event| event.values_at(:name, :payload) }
    LittleGhost::Events.subscribe(@collector)
    LittleGhost::Events.with_context(c: 1) { LittleGhost::Events.error("e") }
    assert_equal({c: 1}, @collector.events.last[:context])
    LittleGhost::Events.unsubscribe(@collector)
    assert_equal %i[debug info warn error], LittleGhost::Events::LEVELS
  ensure
    LittleGhost::Events.reporter = before
  end
end
