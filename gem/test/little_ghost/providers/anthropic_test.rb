# frozen_string_literal: true

require "test_helper"

# Anthropic as an object and as a connection.
class AnthropicTest < Minitest::Test
  include ScriptedRuns

  MESSAGE = {id: "msg_1", type: "message", role: "assistant", model: "claude-sonnet-4-5", content: [],
             usage: {input_tokens: 3, output_tokens: 1}}.freeze

  def frames(*blocks, reason:)
    middle = blocks.each_with_index.flat_map do |(block, delta), index|
      [{type: :content_block_start, index:, content_block: block}, {type: :content_block_delta, index:, delta:},
        {type: :content_block_stop, index:}]
    end
    frames = [{type: :message_start, message: MESSAGE}, *middle,
      {type: :message_delta, delta: {stop_reason: reason}, usage: {output_tokens: 2}}, {type: :message_stop}]
    {sse: frames.map { |frame| {event: frame[:type], data: frame} }}
  end

  def text(text) = frames([{type: "text", text: ""}, {type: "text_delta", text:}], reason: "end_turn")

  def provider(scenario, **options)
    LittleGhost::Providers::Anthropic.new(
      api_key: "test-key", model: "claude-sonnet-4-5", base_url: scenario.base_url, **options
    )
  end

  def question(**options)
    LittleGhost::ModelRequest.new(messages: [{role: :user, content: "Hi"}], **options)
  end

  def test_it_streams_one_request
    scenario = script(text("Hello"))
    events = provider(scenario, api_version: "2026-10-21", surprise: 1).stream(question(settings: {stop: "END"})).to_a
    assert_equal %i[message_start text_delta usage message_stop], events.map(&:type)
    response = events.last.data[:response]
    assert_equal ["Hello", :end_turn, {id: "msg_1", model: "claude-sonnet-4-5"}],
      [response.message.text, response.stop_reason, response.metadata]
    request = scenario.requests.first
    assert_equal ["messages", "test-key", "2026-10-21"],
      [request["path"], *request["headers"].values_at("x-api-key", "anthropic-version")]
    assert_equal [4096, ["END"]], request["body"].values_at("max_tokens", "stop_sequences")
  end

  def test_a_retry_is_reported
    seen = []
    scenario = script({status: 529, headers: {"retry-after-ms": "1"}, body: {type: "error", error: {type: "overloaded_error",
                                                                                                    message: "Overloaded"}}}, text("Hello"))
    on_retry = ->(attempt, error, delay) { seen << [attempt, error.status, delay] }
    types = provider(scenario, on_retry:).stream(question).map(&:type)
    assert_equal %i[model_retry message_start text_delta usage message_stop], types
    assert_equal [[1, 529, 0.001]], seen
  end

  def test_a_connection_runs_an_agent_with_signed_reasoning
    scenario = script(
      frames([{type: "thinking", thinking: "Hm", signature: "sig+/=="}, {}],
        [{type: "tool_use", id: "toolu_1", name: "clock", input: {}}, {}], reason: "tool_use"),
      text("Noon.")
    )
    clock = LittleGhost::Tool.define(name: "clock", description: "Tells the time.") { "12:00" }
    agent = agent_class(clock) { model "claude:claude-sonnet-4-5" }
    providers = {claude: {adapter: :anthropic, base_url: scenario.base_url}}
    runtime = LittleGhost::Runtime.new(configuration: LittleGhost::Configuration.new(providers: providers))
    run = agent.new(runtime: runtime).ask("When?")
    assert_equal ["Noon.", nil], [run.response, run.error]
    turns = scenario.requests.last.dig("body", "messages")
    assert_equal({"type" => "thinking", "thinking" => "Hm", "signature" => "sig+/=="}, turns[1]["content"].first)
    assert_equal({"type" => "tool_result", "tool_use_id" => "toolu_1", "content" => "12:00", "is_error" => false},
      turns[2]["content"].first)
  end

  def test_a_transport_takes_the_place_of_the_network
    asked = []
    transport = Object.new
    transport.define_singleton_method(:stream) do |path:, headers:, body:, **, &sink|
      asked << [path, headers["x-api-key"], JSON.parse(body)["model"]]
      [{type: :message_start, message: MESSAGE}, {type: :content_block_delta, index: 0, delta: {type: "text_delta", text: "Hi"}},
        {type: :message_delta, delta: {stop_reason: "end_turn"}}, {type: :message_stop}]
        .each { |frame| sink.call("event: #{frame[:type]}\ndata: #{JSON.generate(frame)}\n\n") }
    end
    provider = LittleGhost::Providers::Anthropic.new(api_key: "test-key", model: "claude-sonnet-4-5", transport:)
    assert_equal "Hi", provider.stream(question).to_a.last.data[:response].message.text
    assert_equal [["messages", "test-key", "claude-sonnet-4-5"]], asked
  end

  def test_capabilities_come_from_the_facts
    provider = LittleGhost::Providers::Anthropic.new(api_key: "k", model: "m")
    assert provider.capabilities.tools?
    refute provider.capabilities.native_structured_output?
    assert provider.capabilities(metadata: {supported_parameters: ["structured_outputs"]}).native_structured_output?
  end

  def test_mistakes_are_named
    error = assert_raises(LittleGhost::CredentialError) do
      LittleGhost::Providers::Anthropic.new(api_key: nil, model: "m").stream(question) { nil }
    end
    assert_includes error.message, "ANTHROPIC_API_KEY"
    assert_equal "#<LittleGhost::Providers::Anthropic m>", LittleGhost::Providers::Anthropic.new(api_key: "k", model: "m").inspect
  end
end
