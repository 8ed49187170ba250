# frozen_string_literal: true

require_relative "../test_helper"

class ToolTest < Minitest::Test
  class TicketStatusTool < LittleGhost::Tool
    description "Look up a ticket."
    input_schema type: "object", properties: {ticket_id: {type: "string", minLength: 2}},
      required: ["ticket_id"], additionalProperties: false

    def call(input)
      case input["ticket_id"]
      when "expected" then raise LittleGhost::ToolError, "Ticket not found"
      when "unexpected" then raise KeyError, "password=hunter2"
      when "stop" then raise LittleGhost::CancelledError, "stop"
      else {id: input["ticket_id"], state: context.state["state"]}
      end
    end
  end

  class HTTPStatusTool < TicketStatusTool
    exclusive true
    available_if { |binding| binding.run == :web }
  end

  def test_declarations
    assert_equal "ticket_status_tool", TicketStatusTool.tool_name
    assert_equal "http_status_tool", HTTPStatusTool.tool_name
    assert_equal "Look up a ticket.", HTTPStatusTool.description
    assert_equal [false, true], [TicketStatusTool.exclusive, HTTPStatusTool.exclusive]
    assert_equal ["ticket_id"], HTTPStatusTool.input_schema["properties"].keys
    assert_predicate TicketStatusTool.input_schema["properties"]["ticket_id"], :frozen?
    assert_predicate TicketStatusTool.specification, :frozen?
    assert_equal %i[name description input_schema], TicketStatusTool.specification.keys
    assert_raises(ArgumentError) { Class.new(LittleGhost::Tool) { input_schema "text" } }
    assert_equal({}, Class.new(LittleGhost::Tool).input_schema)
  end

  def test_availability
    assert TicketStatusTool.available?(LittleGhost::Tool::Binding.new)
    refute HTTPStatusTool.available?(LittleGhost::Tool::Binding.new)
    assert HTTPStatusTool.available?(LittleGhost::Tool::Binding.new(run: :web))
    assert_nil TicketStatusTool.available_if
    assert_respond_to HTTPStatusTool.available_if, :call
  end

  def test_binding_reaches_the_tool
    binding = LittleGhost::Tool::Binding.new(agent: :a, run: :r, runtime: :t, model: :m, workspace: :w, sandbox: :s)
    tool, = binding.build(TicketStatusTool)
    assert_equal %i[a r t m w s], [tool.agent, tool.run, tool.runtime, tool.model, tool.workspace, tool.sandbox]
    changed = binding.with(run: :other)
    assert_equal %i[other a], [changed.run, changed.agent]
  end

  def test_execute
    context = LittleGhost::RunContext.new(state: {state: "open"})
    tool = TicketStatusTool.new
    outcome = tool.execute({"ticket_id" => "T1"}, context: context)
    assert_equal [:success, {id: "T1", state: "open"}, '{"id":"T1","state":"open"}'], [outcome.status, outcome.value, outcome.content]
    assert_nil tool.context

    outcome = tool.execute({"ticket_id" => "x", "other" => 1})
    assert_equal :error, outcome.status
    assert_match(/\$\.ticket_id/, outcome.content)
    assert_match(/other/, outcome.content)

    [nil, "x", [1]].each do |input|
      assert_match(/\$ must be an object/, tool.execute(input).content)
    end

    outcome = tool.execute({"ticket_id" => "expected"})
    assert_equal ["Ticket not found", LittleGhost::ToolError], [outcome.content, outcome.error.class]

    outcome = tool.execute({"ticket_id" => "unexpected"})
    assert_match(/KeyError/, outcome.content)
    refute_match(/hunter2/, outcome.content)
    assert_equal "password=hunter2", outcome.error.message.lines.first.chomp

    assert_raises(LittleGhost::CancelledError) { tool.execute({"ticket_id" => "stop"}) }
  end

  def test_a_tool_without_a_body
    tool = Class.new(LittleGhost::Tool) { tool_name "empty"; description "Nothing." }
    assert_raises(LittleGhost::AbstractMethodError) { tool.new.call({}) }
    assert_match(/AbstractMethodError/, tool.new.execute({}).content)
  end

  def test_define
    plain = LittleGhost::Tool.define(name: "echo", description: "Echo.", input_schema: {type: "object"}) { |input| input.fetch("text") }
    assert_equal "hi", plain.new.execute({"text" => "hi"}).value
    contextual = LittleGhost::Tool.define(name: "state", description: "State.") { |input, context:| context.state[input["key"]] }
    assert_equal 3, contextual.new.execute({"key" => "n"}, context: LittleGhost::RunContext.new(state: {n: 3})).value
    assert_operator plain, :<, LittleGhost::Tool
    assert_raises(ArgumentError) { LittleGhost::Tool.define(name: "a", description: "b") }
  end

  def test_bad_definitions
    {
      {name: "has space"} => /has space/,
      {name: "a" * 65} => /64/,
      {description: " "} => /description/,
      {input_schema: {type: "nonsense"}} => /schema/,
      {input_schema: {pattern: /a/}} => /"ok".*Regexp/,
      {input_schema: {minimum: Float::NAN}} => /"ok".*NaN/,
      {description: "\xFF"} => /"ok".*UTF-8/
    }.each do |change, pattern|
      tool = LittleGhost::Tool.define(**{name: "ok", description: "Fine.", input_schema: {}}.merge(change)) {}
      error = assert_raises(LittleGhost::ConfigurationError, change.inspect) { LittleGhost::ToolRegistry.new([tool]) }
      assert_match pattern, error.message
    end
  end

  def test_values_as_text
    text = ->(value) { LittleGhost::Tool.define(name: "v", description: "V.") { value }.new.execute({}).content }
    assert_equal ["", "a", "1", "true", "[1,null]", '{"a":"b"}'], [nil, "a", 1, true, [1, nil], {a: :b}].map(&text)
    assert_equal Time.at(0).to_s, text.call(Time.at(0))
    assert_equal [Time.at(0).to_s], JSON.parse(text.call([Time.at(0)]))
    assert_equal ["a\uFFFD", '{"1":[2]}', (2**70).to_s], ["a\xFF", {1 => [2]}, 2**70].map(&text)
    cycle = []
    cycle << cycle
    [Float::NAN, [Float::NAN], ["\xFF"], cycle].each { |value| assert_match(/failed unexpectedly \(JSON::/, text.call(value)) }
    result = LittleGhost::Tool.define(name: "v", description: "V.") { LittleGhost::Tool::Result.new(value: {n: 1}) }.new.execute({})
    assert_equal [{n: 1}, '{"n":1}', []], [result.value, result.content, result.artifacts]
  end
end
