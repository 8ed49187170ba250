# frozen_string_literal: true

require "test_helper"
require "little_ghost/testing"

# Models that follow a script, put over an application's own agents.
class ScriptedModelTest < Minitest::Test
  include ScriptedRuns

  Kit = LittleGhost::Testing

  class LookupTool < LittleGhost::Tool
    description "Looks a topic up."
    input_schema type: "object", properties: {topic: {type: "string"}}, required: ["topic"]

    def call(input)
      "about #{input.fetch("topic")}"
    end
  end

  class SupportAgent < LittleGhost::Agent
    model "nowhere:model"
    system_prompt "Be brief."
    tools LookupTool
  end

  class Unexpected < StandardError; end

  def test_an_agent_is_tested_without_a_change
    run = Kit.with_model({text: ["Let me ", "look."], reasoning: "Hm.", tool: LookupTool, input: {topic: "x"}}, "Done") do |model|
      SupportAgent.ask("Hi").tap do
        assert_equal 2, model.requests.length
        first, second = model.requests
        assert_equal %i[system user], first.messages.map(&:role)
        assert_equal "lookup_tool", first.tools.first["name"]
        assert_equal "about x", second.messages.last.content.first.content
        assert_equal "Let me look.", second.messages[2].text
      end
    end
    assert_equal ["completed", "Done"], [run.outcome, run.response]
  end

  def test_events_arrive_as_from_any_model
    wanted = %i[message_start text_delta usage message_stop]
    events = []
    Kit.with_model({text: %w[a b], usage: {input_tokens: 3}}) do
      SupportAgent.stream_ask("Hi").each { |event| events << event.type if wanted.include?(event.type) }
    end
    assert_equal %i[message_start text_delta text_delta usage message_stop], events
  end

  def test_a_script_that_is_not_followed_is_reported
    error = assert_raises(Kit::UnmetExpectation) { Kit.with_model("One", "Two") { SupportAgent.ask("Hi") } }
    assert_includes error.message, "asked 1 time, but its script has 2 turns"
    error = assert_raises(Kit::UnmetExpectation) { Kit.with_model("One") { 2.times { SupportAgent.ask("Hi") } } }
    assert_includes error.message, "asked 2 times, but its script has only 1 turn"
    assert_equal :value, Kit.with_model("One", "Two", verify: false) { :value }
    Kit.with_model("Always", repeat: true) { 3.times { assert_equal "Always", SupportAgent.ask("Hi").response } }
    # An exception of the test itself is what the test sees.
    assert_raises(Unexpected) { Kit.with_model("One") { raise Unexpected } }
  end

  def test_failures_are_raised_as_they_are
    mine = Unexpected.new("mine")
    busy = LittleGhost::Providers::HTTPError.new("busy", status: 529, body: "{}")
    errors = Kit.with_model(mine, busy, {text: "Half", error: LittleGhost::OutputLimitError}, {error: "no"}) do
      Array.new(4) { SupportAgent.ask("Hi").error }
    end
    assert_same mine, errors[0]
    assert_equal [LittleGhost::Providers::HTTPError, "busy", 529, "{}"], [errors[1].class, errors[1].message, errors[1].status, errors[1].body]
    assert_instance_of LittleGhost::OutputLimitError, errors[2]
    assert_instance_of LittleGhost::ProviderError, errors[3]
    assert_raises(ArgumentError) { Kit::ScriptedModel.new({text: "Half", error: mine}) }
  end

  def test_a_function_makes_turns_from_requests
    shout = lambda do |request|
      last = request.messages.last
      (last.role == :tool) ? last.content.first.content.upcase : {tool: "lookup_tool", input: {topic: last.text}}
    end
    response = Kit.with_model(shout, repeat: true) { SupportAgent.ask("cats").response }
    assert_equal "ABOUT CATS", response

    error = Kit.with_model(->(_request) { raise Unexpected, "in the function" }) { SupportAgent.ask("Hi").error }
    assert_instance_of Unexpected, error
    error = Kit.with_model(->(_request) { 42 }) { SupportAgent.ask("Hi").error }
    assert_instance_of ArgumentError, error
  end

  def test_a_block_applies_to_threads_that_start_inside_and_to_no_other
    gate = Queue.new
    answer = Queue.new
    outside = Thread.new { gate.pop and answer << SupportAgent.ask("Hi") }
    Kit.with_model("Mine") do
      gate << true
      assert_predicate answer.pop, :failed?
      assert_equal "Mine", Thread.new { SupportAgent.ask("Hi").response }.value
    end
    outside.join

    outside = Thread.new { gate.pop and answer << SupportAgent.ask("Hi") }
    Kit.with_model("Everyone's", everywhere: true) do
      gate << true
      assert_equal "Everyone's", answer.pop.response
    end
    outside.join
    assert_predicate SupportAgent.ask("Hi"), :failed?
  end

  def test_a_stream_keeps_the_model_of_the_block_it_was_asked_in
    stream = Kit.with_model("Kept", verify: false) { SupportAgent.stream_ask("Hi") }
    assert_equal "Kept", stream.each {}.response
  end

  def test_an_agent_may_declare_it
    model = Kit::ScriptedModel.new("Declared")
    agent = Class.new(SupportAgent) { model model }
    assert_equal "Declared", agent.ask("Hi").response
    model.verify!
  end

  def test_what_is_no_turn_is_refused
    {1 => "a turn is a text", {} => "a turn needs one of", {texts: "a"} => "no \"texts\"", {tool: "a", input: 1} => "input must be an object"}.each do |turn, problem|
      error = assert_raises(ArgumentError) { Kit::ScriptedModel.new(turn) }
      assert_includes error.message, problem
    end
    assert_raises(ArgumentError) { Kit::ScriptedModel.new("a", capabilities: {flying: true}) }
  end
end
