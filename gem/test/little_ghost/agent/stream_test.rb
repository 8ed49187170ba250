# frozen_string_literal: true

require_relative "../../test_helper"
require "little_ghost/testing"

class AgentStreamTest < Minitest::Test
  include ScriptedRuns

  CALL = {tool: "count", input: {}}.freeze

  def scripted(...) = LittleGhost::Testing::ScriptedModel.new(...)

  def built(*turns, agent: LittleGhost::Agent, **options)
    LittleGhost::Agent.new(model: scripted(*turns), **options)
  end

  def counter
    Class.new(LittleGhost::Tool) do
      tool_name "count"
      description "Counts."
      input_schema type: "object"
      def call(_input) = context.state[:count] = context.state.fetch(:count, 0) + 1
    end
  end

  def test_it_answers_without_a_run
    model = scripted(CALL, "done")
    agent = LittleGhost::Agent.new(model: model, tools: [counter])
    types = []
    result = agent.stream(
      "now", history: [{role: "user", content: "before"}], context: {count: 4}, settings: {temperature: 0}
    ).each { |event| types << event.type }
    assert_equal ["done", 5], [result.text, result.state[:count]]
    assert_equal [:invocation_start, :invocation_stop], [types.first, types.last]
    assert_equal %w[before now], model.requests.first.messages.map(&:text)
    assert_equal({"temperature" => 0}, model.requests.first.settings)
  end

  def test_it_goes_on_from_a_history
    model = scripted("go on")
    LittleGhost::Agent.new(model: model).stream(history: [{role: "user", content: "before"}]).to_a
    assert_equal %w[before], model.requests.first.messages.map(&:text)
    assert_raises(LittleGhost::InvocationError) { built("a").stream }
  end

  def test_failures_are_raised
    failure = KeyError.new("mine")
    assert_same failure, assert_raises(KeyError) { built(failure).stream("a").to_a }
    assert_raises(LittleGhost::DeadlineExceededError) { built("a").stream("a", deadline: Time.now - 1).to_a }
    token = LittleGhost::Support::CancellationToken.new.tap(&:cancel)
    assert_raises(LittleGhost::CancelledError) { built("a").stream("a", cancellation_token: token).to_a }
    error = assert_raises(LittleGhost::ProtocolError) { built(CALL, CALL, tools: [counter], max_turns: 1).stream("a").to_a }
    assert_match(/max_turns/, error.message)
  end

  def test_it_is_read_once_and_the_agent_is_reused
    agent = built("one", "two")
    stream = agent.stream("a")
    assert_equal "one", stream.each {}.text
    assert_raises(LittleGhost::Error) { stream.each {} }
    assert_equal :invocation_start, agent.stream("b").next.type
  end

  def test_checkpoints_bring_messages_and_state
    kept = []
    built(CALL, "done", tools: [counter]).stream("a", checkpoint: ->(messages, state) { kept << [messages.length, state[:count]] }).to_a
    assert_equal [1, nil], kept.first
    assert_equal [4, 1], kept.last
    assert_raises(IOError) { built("a").stream("a", checkpoint: ->(*) { raise IOError, "full" }).to_a }
  end

  def test_it_takes_interjections_while_it_works
    ready = Queue.new
    speaker = nil
    # Goes on when the message is on its way.
    waiting = define_tool("count") { Thread.pass until speaker.backtrace.to_a.any?(/interjection\.rb.*wait/) }
    agent = built(CALL, "answer", tools: [waiting])
    speaker = Thread.new { ready.pop && agent.interject("faster") }
    agent.stream("a", interject_ready: -> { ready << true }).to_a
    assert_equal "answer", speaker.value.text
    assert_raises(LittleGhost::AgentInterjectionError) { agent.interject("late") }
  end

  def test_prompts_have_the_locals_of_the_call
    model = scripted("a", "b")
    agent = Class.new(LittleGhost::Agent) { system_prompt { |locals| "#{locals[:tone]} #{locals[:invocation].message.text}" } }.new(model: model)
    agent.stream("hello", template_locals: {"tone" => "calm"}).to_a
    assert_equal "calm hello", model.requests.first.messages.first.text
  end

  def test_a_block_chooses_for_each_invocation
    agent = Class.new(LittleGhost::Agent).new(
      model: ->(invocation) { LittleGhost::Testing::ScriptedModel.new("to #{invocation.message.text}") }
    )
    assert_equal ["to a", "to b"], %w[a b].map { |text| agent.stream(text).each {}.text }
    error = assert_raises(LittleGhost::ConfigurationError) { Class.new(LittleGhost::Agent) { model { :any } }.new.model }
    assert_match(/for each request/, error.message)
  end

  def test_its_operation_belongs_to_the_given_one
    seen = {}
    subscriber = Class.new(LittleGhost::Instrumentation::Subscriber) do
      define_method(:start) { |name, attributes| seen[name] = attributes }
    end
    LittleGhost::Instrumentation.subscribed(subscriber.new) { built("a").stream("a", parent_operation_id: "outer").to_a }
    assert_equal "outer", seen[:agent][:parent_operation_id]
    refute seen.key?(:run)
  end

  def test_inside_a_run_another_agent_may_be_built
    asking = Class.new(LittleGhost::Tool) do
      tool_name "count"
      description "Asks."
      input_schema type: "object"
      def call(_input)
        LittleGhost::Agent.new(model: LittleGhost::Testing::ScriptedModel.new("inner"), run: run).stream("a").each {}.text
      end
    end
    model = scripted(CALL, "outer")
    run = agent_class(asking) { model model }.ask("a")
    assert_equal ["outer", "inner"], [run.response, model.requests.last.messages.last.content.first.content]
  end

  def test_what_needs_a_run_says_so
    agent = built("a")
    %i[ask stream_ask].each do |name|
      error = assert_raises(LittleGhost::Error) { agent.public_send(name, "a").then { |stream| stream.each {} } }
      assert_match(/use stream/, error.message)
    end
    assert_match(/use stream/, assert_raises(LittleGhost::Error) { agent.as_tool(name: "a") }.message)
    error = assert_raises(ArgumentError) { scripted_agent("a").stream("a", checkpoint: ->(*) {}) }
    assert_match(/checkpoint is for an agent without a Run/, error.message)
  end

  def test_entrypoints_know_the_model_of_their_class
    model = scripted("a")
    assert_same model, Class.new(LittleGhost::Agent) { model model }.new.model
  end
end
