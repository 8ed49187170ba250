# frozen_string_literal: true

require_relative "../test_helper"

class ValuesTest < Minitest::Test
  def test_usage
    usage = LittleGhost::Usage.new(input_tokens: 3, output_tokens: -1, reasoning_tokens: "7", cache_read_tokens: 2)
    assert_equal 5, usage.total_tokens
    sum = usage + LittleGhost::Usage.new(output_tokens: 4, cache_write_tokens: 1)
    assert_equal(
      {input_tokens: 3, output_tokens: 4, cache_read_tokens: 2, cache_write_tokens: 1, reasoning_tokens: 0, total_tokens: 10},
      sum.to_h
    )
  end

  def test_stream_event
    event = LittleGhost::StreamEvent.build("text_delta", text: "Hello")
    assert_equal :text_delta, event.type
    assert_equal "Hello", event.data[:text]
    assert_predicate event.data, :frozen?
    case event
    in {type: :text_delta, data: {text: String => text}} then assert_equal "Hello", text
    end
  end

  def test_model_response_and_request
    response = LittleGhost::ModelResponse.new(message: {role: "assistant", content: "a"}, stop_reason: "end_turn")
    assert_equal :end_turn, response.stop_reason
    assert_equal 0, response.usage.total_tokens
    assert_predicate response.metadata, :frozen?
    request = LittleGhost::ModelRequest.new(messages: [{role: :user, content: "a"}], required_capabilities: ["tools", :tools])
    assert_equal [:tools], request.required_capabilities
    assert_equal "a", request.messages.first.text
    refute_predicate request.cancellation_token, :cancelled?
    assert_predicate request.tools, :frozen?
  end

  def test_run_result
    message = LittleGhost::Message.new(role: :assistant, content: "done")
    values = {message: message, stop_reason: :end_turn, usage: LittleGhost::Usage.new, messages: [message], state: {}}
    result = LittleGhost::RunResult.new(**values)
    assert_equal ["done", "done", false], [result.text, result.output, result.structured?]
    structured = LittleGhost::StructuredResult.new(schema_name: "s", value: {"a" => 1})
    assert_equal({"a" => 1}, result.with(structured_result: structured).output)
    assert_equal "", LittleGhost::RunResult.new(**values, message: nil).text
  end

  def test_execution_state_is_inherited_and_restored
    state = LittleGhost::ExecutionState
    state.with({a: 1}) do
      assert_equal [1, 1], [Thread.new { state[:a] }.value, Fiber.new { state[:a] }.resume]
      state.with({a: 2}) { assert_equal 2, state[:a] }
      Thread.new { state[:a] = 3 }.join
      assert_equal({a: 1}, state.capture)
    end
    assert_nil state[:a]
  end

  def test_requests_and_responses_say_what_is_wrong
    message = {role: :assistant, content: "a"}
    assert_match(/stop_reason/, assert_raises(ArgumentError) { LittleGhost::ModelResponse.new(message: message, stop_reason: nil) }.message)
    assert_match(/messages must be an Array/, assert_raises(ArgumentError) { LittleGhost::ModelRequest.new(messages: "a") }.message)
    {settings: 5, deadline: "soon", cancellation_token: 5}.each do |name, value|
      assert_match(/#{name} must be a/, assert_raises(ArgumentError) { LittleGhost::ModelRequest.new(messages: [], name => value) }.message)
    end
    assert_match(/tools must be an Array/, assert_raises(ArgumentError) { LittleGhost::ModelRequest.new(messages: [], tools: 5) }.message)
  end
end
