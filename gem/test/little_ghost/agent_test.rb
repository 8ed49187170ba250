# frozen_string_literal: true

require_relative "../test_helper"

class AgentTest < Minitest::Test
  module Support
    class TriageAgent < LittleGhost::Agent
      description "Sorts requests."
      model "scripted:one"
      system_prompt "Sort."
      limits max_turns: 3, model_settings: {temperature: 0}
      tools LittleGhost::Tool.define(name: "one", description: "One.") {}
    end

    class UrgentTriageAgent < TriageAgent
      limits max_tool_calls: 5
      tools LittleGhost::Tool.define(name: "two", description: "Two.") {}
    end
  end

  Triage = Support::TriageAgent
  Urgent = Support::UrgentTriageAgent

  def test_one_that_cannot_be_made_closes_its_tools
    closed = []
    kept = LittleGhost::Tool.define(name: "kept", description: "Kept.") {}
    kept.define_method(:close) { closed << tool_name and raise IOError, "stuck" }
    broken = LittleGhost::Tool.define(name: "broken", description: "Broken.") {}
    broken.define_method(:initialize) { |**| raise "no tool" }
    first = Class.new(Triage) { tools kept, broken }
    second = Class.new(Triage) do
      tools kept
      after_initialize { |_| raise "no agent" }
    end
    assert_equal ["no tool", "no agent"], [first, second].map { |agent| agent.ask("Hi").error.message }
    assert_equal %w[kept kept], closed
  end

  def test_identifiers
    assert_equal %w[triage triage urgent_triage], [Triage.agent_id, Triage.assembly_id, Urgent.agent_id]
    assert_equal "agent_test/support/triage", Triage.logical_path
    assert_equal [:agent, :assembly], [Triage.assembly_kind, LittleGhost::Assembly.assembly_kind]
    assert_equal "agent", LittleGhost::Agent.agent_id
    named = Class.new(Triage) { agent_id "sorter" }
    assert_equal %w[sorter sorter sorter], [named.agent_id, named.assembly_id, Class.new(named).agent_id]
    assert_equal "triage", Class.new(Triage).agent_id
  end

  def test_declarations_are_inherited
    assert_equal ["Sorts requests.", "scripted:one", "Sort."], [Urgent.description, Urgent.model, Urgent.system_prompt]
    assert_equal({max_turns: 3, model_settings: {temperature: 0}, max_tool_calls: 5}, Urgent.limits)
    assert_equal %w[one two], Urgent.tools.map(&:tool_name)
    assert_equal %w[one], Triage.tools.map(&:tool_name)
    assert_nil LittleGhost::Agent.model
    assert_equal [], LittleGhost::Agent.tools
    assert_equal [5, 1_000], [Urgent.new.max_tool_calls, Triage.new.max_tool_calls]
  end

  def test_model_forms
    agent = Class.new(LittleGhost::Agent)
    assert_equal :support, agent.model(:support)
    assert_equal({provider: "openai", model: "m", reasoning_effort: "high"}, agent.model(provider: "openai", model: "m", reasoning_effort: "high"))
    block = agent.model { :later }
    assert_same block, agent.model
    prompt = agent.system_prompt { |locals| locals.keys.inspect }
    assert_same prompt, agent.system_prompt
  end

  def test_tools_takes_classes
    error = assert_raises(ArgumentError) { Class.new(LittleGhost::Agent) { tools "order_status" } }
    assert_match(/classes/, error.message)
  end

  def test_entrypoints_are_not_bound
    agent = Triage.new
    assert_nil agent.run
    assert_nil agent.tool_registry
    assert_nil agent.close
    refute_match(/@/, agent.inspect)
  end
end
