# frozen_string_literal: true

require_relative "../test_helper"

class RunContextTest < Minitest::Test
  def test_state_is_the_callers_data_map
    state = LittleGhost::DataMap.new
    context = LittleGhost::RunContext.new(state: state)
    context.state[:a] = 1
    assert_equal 1, state["a"]
    assert_equal({"b" => 2}, LittleGhost::RunContext.new(state: {b: 2}).state)
  end

  def test_check_and_remaining_time
    token = LittleGhost::Support::CancellationToken.new
    context = LittleGhost::RunContext.new(cancellation_token: token)
    assert_nil context.check!
    assert_equal [nil, 5], [context.remaining_time, context.remaining_time(5)]
    token.cancel
    assert_raises(LittleGhost::CancelledError) { context.check! }
    late = LittleGhost::RunContext.new(deadline: Time.now - 1)
    assert_raises(LittleGhost::DeadlineExceededError) { late.check! }
    assert_equal 0.0, late.remaining_time
    assert_equal 3, LittleGhost::RunContext.new(deadline: Time.now + 60).remaining_time(3)
  end

  def test_usage_and_results
    context = LittleGhost::RunContext.new
    4.times.map { Thread.new { 100.times { context.record_usage(LittleGhost::Usage.new(input_tokens: 1)) } } }.each(&:join)
    assert_equal 400, context.usage.input_tokens
    result = LittleGhost::StructuredResult.new(schema_name: "s", value: 1)
    assert_same result, context.submit_structured_result(result)
    assert_same result, context.structured_result
  end

  def test_checkpoint
    assert_nil LittleGhost::RunContext.new.checkpoint([])
    seen = nil
    context = LittleGhost::RunContext.new(state: {a: 1}, checkpoint: ->(messages, state) { seen = [messages, state] })
    context.checkpoint([:m])
    assert_equal [[:m], {"a" => 1}], seen
  end
end
