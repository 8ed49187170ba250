# frozen_string_literal: true

require "test_helper"

# Agents whose model is written in Ruby.
class HostModelTest < Minitest::Test
  include ScriptedRuns

  # Answers with what its block says.
  class RubyModel
    include LittleGhost::ModelInterface

    attr_reader :requests

    def initialize(&answer)
      @answer = answer
      @requests = []
    end

    def stream(request, &block)
      @requests << request
      @answer.call(request, block)
    end

    private

    def to_s = "ruby"
  end

  def event(type, **data)
    LittleGhost::StreamEvent.build(type, **data)
  end

  def stop(*content, reason: :end_turn, usage: LittleGhost::Usage.new(input_tokens: 3, output_tokens: 2))
    message = LittleGhost::Message.new(role: :assistant, content: content)
    event(:message_stop, response: LittleGhost::ModelResponse.new(message: message, stop_reason: reason, usage: usage))
  end

  def agent(selection, *tools, **settings)
    agent_class(*tools) { model selection }.new(runtime: runtime_for(script, **settings))
  end

  def test_it_answers
    ruby = RubyModel.new do |_, block|
      block.call(event(:message_start, id: "1", model: "ruby"))
      block.call(event(:text_delta, text: "Hel"))
      block.call(event(:text_delta, text: "lo"))
      block.call(event(:usage, usage: LittleGhost::Usage.new(input_tokens: 3, output_tokens: 2)))
      block.call(stop("Hello"))
    end
    seen = []
    run = agent(ruby).stream_ask("Hi").each { |streamed| seen << streamed }
    assert_equal ["completed", "Hello", 5], [run.outcome, run.response, run.usage.total_tokens]
    assert_equal %w[Hel lo], seen.filter_map { |streamed| streamed.data[:text] if streamed.type == :text_delta }
    assert_equal "ruby:ruby_model", seen.find { |streamed| streamed.type == :invocation_stop }.data[:metadata][:target]
    assert_equal ["Be brief.", "Hi"], ruby.requests.first.messages.map(&:text)
  end

  def test_deltas_are_delivered_while_the_model_works
    order = []
    ruby = RubyModel.new do |_, block|
      50.times do |number|
        block.call(event(:text_delta, text: number.to_s))
        order << :sent
        sleep(0.002)
      end
      block.call(stop("done"))
    end
    agent(ruby).stream_ask("Hi").each { |streamed| order << :seen if streamed.type == :text_delta }
    assert_equal 50, order.count(:seen)
    assert_operator order.index(:seen), :<, order.rindex(:sent)
  end

  def test_a_stream_may_be_returned
    ruby = RubyModel.new { |_, _| [event(:text_delta, text: "Hi"), stop("Hi")] }
    assert_equal "Hi", agent(ruby).ask("Hello").response
  end

  def test_it_calls_tools
    tool = Class.new(LittleGhost::Tool) do
      tool_name "double"
      description "Doubles a number."
      input_schema({type: "object", properties: {number: {type: "integer"}}})
      def call(input) = input[:number] * 2
    end
    ruby = RubyModel.new do |request, block|
      if request.messages.last.role == :tool
        block.call(stop("It is #{request.messages.last.content.first.content}."))
      else
        call = LittleGhost::Content::ToolUse.new(id: "call_1", name: "double", input: {number: 21})
        block.call(event(:tool_call_start, index: 0, id: "call_1", name: "double"))
        block.call(event(:tool_call_stop, index: 0, tool_use: call))
        block.call(stop(call, reason: :tool_use))
      end
    end
    run = agent(ruby, tool).ask("Double 21")
    assert_nil run.error
    assert_equal "It is 42.", run.response
    assert_equal ["double"], ruby.requests.first.tools.map { |offered| offered[:name] }
  end

  def test_its_exceptions_fail_the_run
    broken = RubyModel.new { |_, _| raise KeyError, "no such thing" }
    run = agent(broken).ask("Hi")
    assert_instance_of KeyError, run.error
    silent = RubyModel.new { |_, block| block.call(event(:text_delta, text: "a")) }
    assert_instance_of LittleGhost::ProtocolError, agent(silent).ask("Hi").error
    strange = RubyModel.new { |_, block| block.call("text") }
    assert_instance_of LittleGhost::ProtocolError, agent(strange).ask("Hi").error
  end

  def test_an_exception_of_the_consumer_leaves_through_the_model
    closed = false
    ruby = RubyModel.new do |_, block|
      20.times { block.call(event(:text_delta, text: "a")) }
      block.call(stop("a"))
    ensure
      closed = true
    end
    assert_raises(ZeroDivisionError) do
      agent(ruby).stream_ask("Hi").each { |streamed| 1 / 0 if streamed.type == :text_delta }
    end
    assert closed
  end

  def test_cancelling_stops_it
    token = LittleGhost::Support::CancellationToken.new
    finished = false
    ruby = RubyModel.new do |request, block|
      token.cancel
      Timeout.timeout(5) { sleep(0.001) until request.cancellation_token.cancelled? }
      1_000.times do
        block.call(event(:text_delta, text: "a"))
        sleep(0.001)
      end
      finished = true
    end
    run = agent(ruby).ask("Hi", cancellation_token: token)
    assert_equal "cancelled", run.outcome
    refute finished
  end

  def test_a_model_without_the_interface_is_refused
    error = agent(Class.new { def stream(_) = nil }.new).ask("Hi").error
    assert_instance_of LittleGhost::ConfigurationError, error
    assert_match(/ModelInterface/, error.message)
  end

  def test_an_agent_shows_its_model
    seen = nil
    tool = Class.new(LittleGhost::Tool) do
      tool_name "look"
      description "Looks."
      define_method(:call) { |_| seen = binding.model && "seen" }
    end
    scenario = script({chat: {text: "Hi"}})
    asked = nil
    klass = agent_class(tool) { before_model { |_| asked = [model.target, model.role, model.settings, model.class] } }
    klass.new(runtime: runtime_for(scenario, models: {default: {target: "scripted:test-model", settings: {seed: 1}}})).ask("Hi")
    assert_equal ["scripted:test-model", "default", {"seed" => 1}, LittleGhost::Model], asked
    assert_nil seen
  end

  def test_an_unknown_model_works_with_one_warning
    warnings = []
    scenario = script({chat: {text: "Hi"}}, cycle: true)
    agent = agent_for(scenario)
    listener = Object.new
    listener.define_singleton_method(:emit) { |event| warnings << event[:payload] if event[:name] == "little_ghost.model.unknown" }
    LittleGhost::Events.subscribe(listener)
    2.times { assert_equal "Hi", agent.ask("Hi").response }
    assert_equal ["scripted:test-model"], warnings.map { |payload| payload[:target] || payload["target"] }
  ensure
    LittleGhost::Events.unsubscribe(listener)
  end

  def test_the_end_must_bring_a_response
    odd = Object.new.extend(LittleGhost::ModelInterface)
    odd.define_singleton_method(:target) { "own:odd" }
    odd.define_singleton_method(:model_id) { "odd" }
    odd.define_singleton_method(:role) {}
    odd.define_singleton_method(:details) { LittleGhost::Models::Details.new(target: "own:odd") }
    odd.define_singleton_method(:capabilities) { LittleGhost::ModelCapabilities.permissive }
    odd.define_singleton_method(:stream) { |_request, &consumer| consumer.call(LittleGhost::StreamEvent.build(:message_stop, response: "text")) }
    error = agent_class { model odd }.ask("hi").error
    assert_instance_of LittleGhost::ProtocolError, error
    assert_match(/ModelResponse in message_stop, got String/, error.message)
  end
end
