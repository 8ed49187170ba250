# frozen_string_literal: true

# A support agent with two tools, asked on behalf of a customer that the application knows.
#
#   ruby -Igem/lib examples/ruby/support_agent.rb "Where is order 481?"

require "little_ghost"

# The server that LITTLE_GHOST_DEMO_BASE_URL names, else the default model of the first key in
# the environment.
setting = ->(name, default = nil) { ENV[name].to_s.empty? ? default : ENV[name] }
if (base_url = setting["LITTLE_GHOST_DEMO_BASE_URL"])
  api = setting["LITTLE_GHOST_DEMO_API", "chat_completions"]
  LittleGhost.configure do |config|
    config.providers = { local: { adapter: :openai_compatible, base_url: base_url, api: api } }
    config.default_model = "local:#{setting["LITTLE_GHOST_DEMO_MODEL", "default"]}"
  end
end

class HelpCenterLookupTool < LittleGhost::Tool
  ARTICLES = {
    "refunds" => "Items can be returned for a full refund within 30 days of purchase.",
    "shipping" => "Standard shipping takes three to five business days."
  }.freeze

  description "Look up a help center article by topic."
  input_schema type: "object", required: ["topic"], additionalProperties: false,
    properties: { topic: { type: "string", enum: ARTICLES.keys } }

  def call(input) = ARTICLES.fetch(input.fetch("topic"))
end

class OrderStatusTool < LittleGhost::Tool
  STATUSES = { ["user-7", "account-2", "481"] => "out for delivery" }.freeze

  description "Look up the status of an order of the current customer."
  input_schema type: "object", required: ["order_number"], additionalProperties: false,
    properties: { order_number: { type: "string", description: "Such as 481." } }

  def call(input)
    # Who asks is known to the application; the model only chooses the number.
    request = run.invocation
    key = [request.actor_id, request.context["account_id"], input.fetch("order_number")]
    STATUSES.fetch(key) { raise LittleGhost::ToolError, "This customer has no such order." }
  end
end

class SupportAgent < LittleGhost::Agent
  description "Answers questions of a shop's customers."
  system_prompt "You answer customers of a shop in one or two sentences. Look facts up with " \
                "the tools before you state them, and never invent any."
  tools HelpCenterLookupTool, OrderStatusTool
end

question = ARGV.fetch(0, "Can I get a refund?")
stream = SupportAgent.stream_ask(question, actor_id: "user-7", context: { account_id: "account-2" })

$stdout.sync = true
run = stream.each do |event|
  case event.type
  when :text_delta then print event.data.fetch(:text)
  when :tool_start then puts "[looking up: #{event.data.fetch(:tool_use).name}]"
  end
end

puts "\n[#{run.outcome}, #{run.usage.total_tokens} tokens]"
abort "#{run.error.class}: #{run.error.message}" unless run.completed?
