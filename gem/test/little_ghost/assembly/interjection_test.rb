# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/participants"

# What is said to an assembly reaches the one agent at work in it.
class AssemblyInterjectionTest < Minitest::Test
  include ScriptedRuns
  include Participants

  def setup
    @asked, @go_on, @queued = Array.new(3) { Queue.new }
  end

  def test_the_agent_at_work_answers
    [spoken, two_members].each do |assembly|
      execution = begin_with(assembly, 1)
      caller = Thread.new { execution.interject("And y?") }
      @queued.pop(timeout: 5) || flunk("it was not said")
      @go_on << true
      assert_equal "noted", caller.value.text
      assert_equal "noted", execution.wait.response
    end
  end

  def test_several_at_work_have_to_be_told_apart
    one, two = talker("one"), talker("two")
    last = echo("last")
    execution = begin_with(workflow { parallel(invoke(one), invoke(two)) && invoke(last) }, 2)
    error = assert_raises(LittleGhost::AgentInterjectionError) { execution.interject("And y?") }
    assert_match(/several agents/, error.message)
    2.times { @go_on << true }
    assert_predicate execution.wait, :completed?
  end

  private

  # An agent whose tool holds it until it may go on.
  def talker(id = "talker")
    asked, go_on = @asked, @go_on
    tool = define_tool("hold") { |_| asked.push(true) && go_on.pop(timeout: 5) && "held" }
    participant(id, {tool: "hold", input: {}}, "noted") { tools tool }
  end

  def spoken
    first, talks = echo("first"), talker
    workflow { invoke(first).output && invoke(talks) }
  end

  def two_members
    desk, talks = participant("desk", handoff("talker")), talker
    swarm do
      member desk
      member talks
      start "desk"
      handoff "desk", to: "talker"
    end
  end

  def begin_with(assembly, count)
    execution = assembly.new.start_execution({message: "Go"})
    count.times { @asked.pop(timeout: 5) || flunk("nobody is at work") }
    queued = @queued
    execution.run.instance_variable_get(:@handle).define_singleton_method(:interject) { |fields| super(fields).tap { queued << true } }
    execution
  end
end
