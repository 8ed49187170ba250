# frozen_string_literal: true

require "test_helper"

# A real model on loopback answers, calls a tool and streams, over each wire format it has.
class LocalModelTest < Minitest::Test
  class OrderStatusTool < LittleGhost::Tool
    tool_name "order_status"
    description "Look up the delivery status of an order by its number."
    input_schema(
      type: "object", properties: {order_number: {type: "string"}},
      required: ["order_number"], additionalProperties: false
    )

    def call(input) = "Order #{input.fetch("order_number")} is out for delivery."
  end

  class SupportAgent < LittleGhost::Agent
    model "local:qwen2.5-coder-0.5b-instruct"
    system_prompt "You are a support agent. Use the order_status tool to look up orders."
    tools OrderStatusTool
    limits max_turns: 6, model_settings: {temperature: 0, max_tokens: 200}
  end

  def setup
    model = ENV.fetch("LITTLE_GHOST_LOCAL_MODEL") { flunk "set LITTLE_GHOST_LOCAL_MODEL: run `make test`" }
    serve = File.expand_path("../../tests/support/local-model/serve.py", __dir__)
    @server = IO.popen([ENV.fetch("VENV_PYTHON", "python3"), serve, model, "0"], "r+")
    line = @server.gets until line&.start_with?("listening ")
    @base_url = "#{line.split[1]}/v1/"
  end

  # Closing its input ends the server.
  def teardown = @server&.close

  FORMATS = {
    chat_completions: {adapter: :openai_compatible, api: :chat_completions},
    responses: {adapter: :openai_compatible, api: :responses},
    messages: {adapter: :anthropic, api_key: nil}
  }.freeze

  FORMATS.each do |format, options|
    define_method(:"test_tool_call_and_streamed_answer_over_#{format}") do
      configuration = LittleGhost::Configuration.new(providers: {local: {base_url: @base_url, **options}})
      agent = SupportAgent.new(runtime: LittleGhost::Runtime.new(configuration: configuration))
      events = []
      run = agent.stream_ask("What is the status of order 481?").each { |event| events << event }

      assert_predicate run, :completed?, run.error.inspect
      stop = events.find { |event| event.type == :tool_stop }
      assert_equal "order_status", stop.data[:tool_use].name
      assert_includes stop.data[:result].content, "481"
      assert_includes run.response, "481"
      assert_operator events.count { |event| event.type == :text_delta }, :>, 3
      assert_operator run.usage.total_tokens, :>, 0
    end
  end
end
