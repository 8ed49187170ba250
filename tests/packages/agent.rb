# frozen_string_literal: true

# Run against the installed gem, outside the checkout: one tool call, then a
# streamed answer, from the scripted server at SCRIPTED_BASE_URL; then the same by
# a JavaScript program, which the interpreter in the gem runs.
require "little_ghost"

LittleGhost.configure do |config|
  config.providers = {
    scripted: {
      adapter: :openai_compatible, api_key: "scripted", api: :chat_completions,
      base_url: ENV.fetch("SCRIPTED_BASE_URL")
    }
  }
end

class OrderStatusTool < LittleGhost::Tool
  tool_name "order_status"
  description "Look up the status of an order."
  input_schema(
    type: "object",
    properties: { number: { type: "string" } },
    required: ["number"]
  )

  def call(input)
    "Order #{input.fetch("number")} is out for delivery."
  end
end

class SupportAgent < LittleGhost::Agent
  description "Answers questions about orders."
  model "scripted:scripted-model"
  system_prompt "Look orders up before you answer."
  tools OrderStatusTool
end

class ProgrammingAgent < SupportAgent
  description "Answers questions about orders by programs."
  code_mode engine: :javascript, sandbox: :unrestricted
end

[SupportAgent, ProgrammingAgent].each do |agent|
  run = agent.stream_ask("Where is order 481?").each do |event|
    print event.data.fetch(:text) if event.type == :text_delta
  end
  puts
  abort "the run ended as #{run.outcome}: #{run.error.inspect}" unless run.completed?
end
