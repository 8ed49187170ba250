# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/subprocess"

# The garbage collector at its worst, and nothing left behind.
class MemoryTest < Minitest::Test
  include ScriptedRuns
  include Subprocess

  def scripted_agent
    scenario = script(
      tool_calls(["add", {a: 1, b: 2}], ["add", {a: 3, b: 4}]),
      {chat: {text: ["ü", "ber", {repeat: "x", count: 3}], reasoning: "so"}}, cycle: true
    )
    agent_for(scenario, define_tool("add", a: {type: "integer"}, b: {type: "integer"}) { |input| input["a"] + input["b"] })
  end

  def expected = "überxxx"

  # In a process of its own, whose small heap makes a collection at every allocation affordable.
  def test_gc_stress
    scenario = script(
      tool_calls(["add", {a: 1, b: 2}], ["add", {a: 3, b: 4}]), {chat: {text: %w[ü ber], reasoning: "so"}}, cycle: true
    )
    output, status = ruby(scenario, <<~'RUBY')
      add = LittleGhost::Tool.define(name: "add", description: "Adds.") { |input| input["a"] + input["b"] }
      agent = Class.new(Tester) { tools add }.new(runtime: RUNTIME)
      agent.ask("load everything")
      GC.stress = true
      run = agent.stream_ask("hi").each { |event| event.data.each_value(&:hash) }
      result = run.result
      GC.stress = false
      puts run.response, result.messages.map { |message| message.content.map(&:inspect).join }.length
    RUBY
    assert_equal "über\n5\n", output
    assert_predicate status, :success?
  end

  def test_compaction_while_streaming
    skip "this Ruby cannot compact" unless GC.respond_to?(:compact)
    agent = scripted_agent
    kept = []
    run = agent.stream_ask("hi").each do |event|
      kept << event
      GC.compact
    end
    GC.verify_compaction_references(toward: :empty, expand_heap: true)
    assert_equal expected, run.response
    assert_equal expected, kept.filter_map { |event| event.data[:text] if event.type == :text_delta }.join
    assert_equal expected, agent.ask("again").response
  end

  def test_finished_runs_hold_no_descriptors
    agent = agent_for(script({chat: {text: "a"}}, cycle: true))
    agent.ask("warm up")
    GC.disable
    before = Dir.children("/proc/self/fd").length
    runs = 100.times.map { agent.ask("hi") }
    assert_operator Dir.children("/proc/self/fd").length, :<=, before + 2
    assert(runs.all?(&:completed?))
  ensure
    GC.enable
  end

  def test_nothing_of_a_run_is_kept
    agent = scripted_agent
    3.times { agent.ask("warm up") }
    GC.start
    before = counts
    30.times { agent.stream_ask("hi").each {} }
    GC.start
    counts.each { |type, count| assert_operator count, :<=, before[type] + 5, type }
  end

  def counts
    [LittleGhost::Run, LittleGhost::Native::Handle, LittleGhost::Native::Pump, LittleGhost::RunContext, LittleGhost::Native::Token]
      .to_h { |type| [type, ObjectSpace.each_object(type).count] }
  end
end
