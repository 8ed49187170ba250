# frozen_string_literal: true

require_relative "../../test_helper"
require "little_ghost/testing"

class NestingTest < Minitest::Test
  include ScriptedRuns

  # Runs +work+ in a tool of a run, alone or together with another call, and returns the run.
  def in_a_tool(calls: 1, **options, &work)
    tool = LittleGhost::Tool.define(name: "work", description: "Works.", input_schema: {type: "object"}, &work)
    turn = {tools: Array.new(calls) { |n| {tool: "work", input: {}, id: "call-#{n}"} }}
    model = LittleGhost::Testing::ScriptedModel.new(turn, "done")
    Timeout.timeout(10) { agent_class(tool) { model model }.ask("a", **options) }
  end

  def test_the_own_session_cannot_be_asked
    inner = agent_class { model LittleGhost::Testing::ScriptedModel.new("inner", repeat: true) }
    [1, 2].each do |calls|
      asked = Queue.new
      in_a_tool(calls: calls, session_id: "shared-#{calls}") { asked << inner.ask("b", session_id: "shared-#{calls}") }
      run = asked.pop
      assert_equal "failed", run.outcome
      assert_match(/session is in use by the run/, run.error.message)
    end
  end

  def test_another_session_can
    inner = agent_class { model LittleGhost::Testing::ScriptedModel.new("inner") }
    asked = Queue.new
    in_a_tool(session_id: "outer") { asked << inner.ask("b", session_id: "inner") }
    assert_equal "inner", asked.pop.response
  end

  def test_nobody_interjects_from_inside
    errors = Queue.new
    stream = scripted_agent({text: %w[a b], pause: 0.01}).stream_ask("a")
    stream.each do |event|
      stream.run.interject("b") if event.type == :message_start
    rescue LittleGhost::AgentInterjectionError => error
      errors << error
    end
    assert_match(/waits for this code/, errors.pop.message)
  end

  def test_an_execution_does_not_wait_for_itself
    errors = Queue.new
    begun = Queue.new
    execution = scripted_agent("a").start_execution(message: "a") do |event|
      begun.pop.wait if event.type == :run_start
    rescue LittleGhost::Error => error
      errors << error
    end
    begun << execution
    assert_match(/wait for itself/, errors.pop.message)
    assert_predicate execution.wait, :completed?
    assert_raises(ArgumentError) { execution.wait(deadline: 3) }
  end
end
