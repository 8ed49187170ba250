# frozen_string_literal: true

require_relative "../../test_helper"

class StructuredResultsTest < Minitest::Test
  SCHEMA = {
    type: :object, properties: {urgent: {type: "boolean"}}, required: %i[urgent], additionalProperties: false
  }.freeze

  def agent(&block)
    Class.new(LittleGhost::Agent, &block)
  end

  def test_both_forms_declare_the_same
    hash = agent { result_schema(SCHEMA, name: "triage", strategy: :tool) }
    keywords = agent { result_schema(name: "triage", strategy: :tool, **SCHEMA) }
    assert_equal hash.result_schema, keywords.result_schema
    assert_equal({schema: SCHEMA, name: "triage", description: nil, strategy: :tool}, hash.result_schema)
    assert_predicate hash.result_schema, :frozen?
    assert_nil agent {}.result_schema
  end

  def test_declarations_are_inherited
    parent = agent { result_schema(SCHEMA, name: "triage") }
    child = Class.new(parent)
    assert_equal parent.result_schema, child.result_schema
    child.result_schema(SCHEMA, name: "other")
    assert_equal %w[triage other], [parent, child].map { |declared| declared.result_schema[:name] }
  end

  def test_unusable_declarations_say_where
    {
      ["a string"] => /Hash/,
      [SCHEMA.merge(additionalProperties: true)] => /\$\.additionalProperties/,
      [SCHEMA.merge(required: [])] => /\$\.required.*"urgent"/,
      [SCHEMA.merge(properties: {urgent: {type: "truth"}})] => /\$\.properties\.urgent\.type/,
      [SCHEMA, {name: "a b"}] => /"a b"/,
      [SCHEMA, {strategy: :guess}] => /"guess"/
    }.each do |(schema, options), message|
      error = assert_raises(LittleGhost::ConfigurationError) { agent { result_schema(schema, **(options || {})) } }
      assert_match message, error.message
    end
  end

  def test_the_output_is_the_checked_value
    ScriptedLLM.instance.script({"chat" => {"text" => '{"urgent":true}'}}).tap do |scenario|
      declared = agent do
        agent_id "triage"
        model "scripted:scripted-model"
        system_prompt "Sort."
      system_prompt "Sort."
        result_schema(SCHEMA)
      end
      run = declared.new(runtime: runtime(scenario)).ask("Now!")
      result = run.result
      assert_equal [true, {"urgent" => true}, "triage_result"], [result.structured?, result.output, result.structured_result.schema_name]
      assert_equal [true, true], [result.output.fetch("urgent"), result.output.fetch(:urgent)]
      assert_equal ['{"urgent":true}', :structured_result], [run.response, result.stop_reason]
    end
  end

  def test_a_failure_names_the_schema_and_the_violations
    scenario = ScriptedLLM.instance.script({"chat" => {"text" => "no"}}, {"chat" => {"text" => '{"urgent":"yes"}'}})
    declared = agent do
      model "scripted:scripted-model"
      system_prompt "Sort."
      result_schema(SCHEMA, name: "triage")
    end
    error = declared.new(runtime: runtime(scenario)).ask("Now!").error
    assert_instance_of LittleGhost::StructuredResultError, error
    assert_equal "triage", error.schema_name
    assert_match(/\A\$\.urgent/, error.validation_errors.first)
  end

  def test_a_schema_is_declared_as_it_is_then
    schema = {type: "object", properties: {urgent: {type: "boolean"}}, required: ["urgent"], additionalProperties: false}
    declared = Class.new(LittleGhost::Agent) { result_schema(schema) }
    schema[:required] << "later"
    assert_equal ["urgent"], declared.result_schema[:schema][:required]
  end

  private

  def runtime(scenario)
    connection = {"adapter" => "openai_compatible", "api" => "chat_completions", "base_url" => scenario.base_url, "api_key" => "test-key"}
    LittleGhost::Runtime.new(configuration: LittleGhost::Configuration.new(providers: {"scripted" => connection}))
  end
end
