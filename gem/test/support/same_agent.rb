# frozen_string_literal: true

# The agent of tests/it/tests/same_bytes.rs in Ruby: asks each connection of its argument once.

require "json"
require "little_ghost"

class OrderStatusTool < LittleGhost::Tool
  tool_name "order_status"
  description "Look up the status – if any – of an order."
  input_schema(
    type: "object",
    properties: {
      zulu: {type: "string", description: "Größe in „mm“", maxLength: 40},
      alpha: {type: "number", minimum: 0.5, maximum: 1_000_000},
      mike: {type: "array", items: {type: "string", enum: %w[z a é]}}
    },
    required: ["zulu"],
    additionalProperties: false
  )

  def call(_input)
    {
      zulu: 1, alpha: 1.0, text: "Größe \u2028😀 </b> \"\\\u0001\t", none: nil,
      numbers: [0.1, 1e21, 1e-7, -2.5, 12_345_678_901_234_567_890, -7],
      list: [true, false, [], {}]
    }
  end
end

class AnotherTool < OrderStatusTool
  tool_name "another"
  description "Do nothing."
  input_schema(type: "object", properties: {})
end

class SameAgent < LittleGhost::Agent
  agent_id "same"
  system_prompt "You look things up.\n\nTell „it“ plainly: <b>&amp;</b> ✓"
  tools OrderStatusTool, AnotherTool
  result_schema(
    {
      type: "object",
      properties: {zulu: {type: "string"}, alpha: {type: "integer"}},
      required: %w[zulu alpha],
      additionalProperties: false
    },
    name: "status", description: "How it is going."
  )
end

HISTORY = [
  {role: "user", content: "Hi, it's \u007fme 😀"},
  {role: "assistant", content: [
    {type: "text", text: "A moment."},
    {type: "tool_use", id: "call_0", name: "order_status", input: {zulu: "480", alpha: 2.0, mike: %w[é z]}}
  ]},
  {role: "user", content: [
    {type: "tool_result", tool_use_id: "call_0", content: "No such order: \"480\"", status: "error"}
  ]},
  {role: "assistant", content: [{type: "text", text: "There is none."}]}
].freeze

JSON.parse(ARGV.fetch(0)).each do |target|
  configuration = LittleGhost::Configuration.new(providers: {service: target.fetch("connection")})
  agent = Class.new(SameAgent) do
    model "service:#{target.fetch("model")}"
    limits model_settings: {temperature: 0.2, max_tokens: 256, top_p: 0.95, **target.fetch("settings").transform_keys(&:to_sym)}
  end
  run = agent.new(runtime: LittleGhost::Runtime.new(configuration: configuration)).ask(
    {message: "Where is order 481? — 日本", history: HISTORY}
  )
  raise run.error if run.error

  puts run.response
end
