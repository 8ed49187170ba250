# frozen_string_literal: true

require_relative "../../test_helper"

class RunCostTest < Minitest::Test
  include ScriptedRuns

  def priced(pricing)
    {default: {target: "scripted:scripted-model", details: {pricing: pricing}}}
  end

  def run_with(pricing)
    scenario = script({chat: {text: "Hi", usage: {prompt_tokens: 3, completion_tokens: 1}}})
    agent_for(scenario, models: priced(pricing)).ask("hi")
  end

  def test_a_cost_is_an_exact_number
    run = run_with(input: 0.1, output: "0.7")
    assert_equal Rational(1, 1_000_000), run.cost
    assert_equal run.cost, run.result.cost
    assert_equal "0.000001", format("%.6f", run.cost)
  end

  def test_an_unknown_price_is_nil
    run = run_with(input: 0.1)
    assert_nil run.cost
    assert_nil run.result.cost
    assert_predicate run, :completed?
  end

  def test_a_callback_that_replaces_the_result_keeps_the_cost
    scenario = script({chat: {text: "Hi", usage: {prompt_tokens: 1, completion_tokens: 0}}})
    agent = agent_for(scenario, models: priced(input: 1)) do
      after_invocation do |payload|
        result = payload[:result].with(stop_reason: :replaced, cost: nil)
        LittleGhost::Support::Callbacks.replace(result: result)
      end
    end
    run = agent.ask("hi")
    assert_equal [:replaced, Rational(1, 1_000_000)], [run.result.stop_reason, run.result.cost]
  end
end
