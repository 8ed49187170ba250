# frozen_string_literal: true

require "test_helper"
require "json"
require_relative "conformance/mask"
require_relative "conformance/toolbox"

# The cases of code mode that all languages have to pass; see tests/conformance/README.md.
class CodeModeConformanceTest < Minitest::Test
  FILE = File.expand_path("../../tests/conformance/code_mode/cases.json", __dir__)
  CONTROLS = LittleGhost::CodeMode::CONTROLS
  FIELDS = {
    "case" => %w[name about tools mode limits turns expect], "tool" => %w[name description input_schema behaviour],
    "expect" => %w[results calls model_tools system_includes outcome response error refused]
  }.freeze

  JSON.parse(File.read(FILE)).each do |spec|
    define_method(:"test_#{spec.fetch("name").tr(" ", "_")}") { play(spec) }
  end

  private

  def play(spec)
    known(spec)
    return refused(spec) if spec["expect"]["refused"]

    model = LittleGhost::Testing::ScriptedModel.new(*spec["turns"].map { |turn| turn(turn) })
    stream = agent(spec, model).stream_ask("Go")
    events = stream.to_a
    run = stream.run
    expect = spec["expect"]
    assert_empty events.select { |event| event.type == :tool_call_start && CONTROLS.include?(event.data[:name]) }
    same(expect["calls"], calls(events))
    same(expect["results"], results(model))
    assert_equal expect.fetch("outcome", "completed"), run.outcome, run.error.inspect
    assert_equal expect.fetch("response", "Done"), run.response
    assert_equal expect["model_tools"], model.requests.first.tools.map { |tool| tool["name"] } if expect["model_tools"]
    expect.fetch("system_includes", []).each { |part| assert_includes model.requests.first.messages.first.text, part }
    failure(expect["error"], run.error)
  end

  def known(spec)
    assert_empty spec.keys - FIELDS["case"]
    assert_empty spec["expect"].keys - FIELDS["expect"]
    spec["tools"].each { |tool| assert_empty tool.keys - FIELDS["tool"] }
  end

  # It cannot even be declared.
  def refused(spec)
    error = assert_raises(ArgumentError, LittleGhost::ConfigurationError) { agent(spec, LittleGhost::Testing::ScriptedModel.new) }
    spec["expect"]["refused"].each { |part| assert_includes error.message, part }
  end

  def agent(spec, model)
    box = Conformance::Toolbox.new
    tools = spec["tools"].map { |tool| box.tool({"description" => "A tool of the test.", "input_schema" => {"type" => "object"}, **tool}) }
    mode = {engine: :javascript, sandbox: :unrestricted, **spec.fetch("mode", {}).transform_keys(&:to_sym)}
    limits = spec.fetch("limits", {}).transform_keys(&:to_sym)
    Class.new(LittleGhost::Agent) do
      agent_id "support"
      model model
      system_prompt "You help."
      tools(*tools)
      limits(**limits)
      code_mode(**mode)
    end.new(runtime: LittleGhost::Configuration.new.runtime)
  end

  def turn(turn)
    kind, value = turn.first
    case kind
    when "text" then value
    when "exec" then {tool: "exec", input: {source: source(value), **turn.slice("max_output_tokens").transform_keys(&:to_sym)}}
    when "wait", "stop" then {tool: kind, input: value}
    when "call" then {tool: value[0], input: value[1]}
    else flunk "unknown turn #{kind}"
    end
  end

  def source(value)
    value.is_a?(Hash) ? value.fetch("$repeat").then { |text, times| text * times } : value
  end

  def calls(events)
    events.select { |event| event.type == :tool_stop }.map do |event|
      use, result = event.data.values_at(:tool_use, :result)
      [use.name, JSON.parse(JSON.generate(use.input.to_h)), result.status.to_s, result.content]
    end
  end

  # What the model was told of its calls.
  def results(model)
    last = model.requests.last or return []
    blocks = last.messages.flat_map { |message| message.to_h.transform_keys(&:to_s)["content"] }
    blocks.filter_map do |block|
      block = JSON.parse(JSON.generate(block.to_h))
      told(block["content"]) if block["type"] == "tool_result"
    end
  end

  def told(text)
    report = JSON.parse(text)
    (report.is_a?(Hash) && report.key?("status")) ? report : text
  rescue JSON::ParserError
    text
  end

  def failure(expected, error)
    return assert_nil(error) if expected.nil?

    assert_equal expected["class"], error.class.name.delete_prefix("LittleGhost::")
    expected["message_contains"].each { |part| assert_includes error.message, part }
  end

  def same(expected, actual)
    assert Conformance::Mask.match?(expected, actual), "expected #{expected}\n   found #{actual}"
  end
end
