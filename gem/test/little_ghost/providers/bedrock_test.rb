# frozen_string_literal: true

require "test_helper"

# Amazon Bedrock as an object and as a connection.
class BedrockTest < Minitest::Test
  include ScriptedRuns

  MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
  PATH = "model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream"
  KEYS = {access_key_id: "AKIDEXAMPLE", secret_access_key: "test-secret-key"}.freeze
  Keys = Struct.new(:access_key_id, :secret_access_key, :session_token)

  def frames(*blocks, reason:)
    middle = blocks.each_with_index.flat_map do |(start, *deltas), index|
      events = deltas.map { |delta| {event: :contentBlockDelta, data: {contentBlockIndex: index, delta:}} }
      events.unshift({event: :contentBlockStart, data: {contentBlockIndex: index, start:}}) if start
      events << {event: :contentBlockStop, data: {contentBlockIndex: index}}
    end
    {eventstream: [{event: :messageStart, data: {role: :assistant}}, *middle, {event: :messageStop, data: {stopReason: reason}},
      {event: :metadata, data: {usage: {inputTokens: 3, outputTokens: 2, totalTokens: 5}, metrics: {latencyMs: 1}}}]}
  end

  def text(text) = frames([nil, {text:}], reason: "end_turn")

  def provider(scenario, **options)
    options = {region: "us-east-1", credentials: KEYS, **options}
    LittleGhost::Providers::Bedrock.new(model: MODEL, endpoint: scenario.base_url, **options)
  end

  def question(**options)
    LittleGhost::ModelRequest.new(messages: [{role: :user, content: "Hi"}], **options)
  end

  def authorization(scenario) = scenario.requests.last["headers"]["authorization"]

  def test_it_streams_one_signed_request
    scenario = script({**text("Hello"), split: 1})
    events = provider(scenario).stream(question(settings: {max_tokens: 9})).to_a
    assert_equal %i[message_start text_delta usage message_stop], events.map(&:type)
    response = events.last.data[:response]
    assert_equal ["Hello", :end_turn, {model: MODEL}], [response.message.text, response.stop_reason, response.metadata]
    request = scenario.requests.first
    assert_equal PATH, request["path"]
    assert_equal({"messages" => [{"role" => "user", "content" => [{"text" => "Hi"}]}], "system" => [],
                  "inferenceConfig" => {"maxTokens" => 9}}, request["body"])
    assert_match(%r{\AAWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/\d{8}/us-east-1/bedrock/aws4_request, }, authorization(scenario))
  end

  def test_keys_come_from_objects_and_resolvers_and_a_clock_dates_them
    scenario = script(text("a"), text("b"), text("c"))
    asked = 0
    resolver = -> { Keys.new("AKIDRESOLVED", "test-secret-key", "token-#{asked += 1}") }
    clock = -> { Time.utc(2026, 11, 30, 10, 46, 4) }
    by_resolver = provider(scenario, credentials: nil, credential_resolver: resolver, clock: clock)
    2.times do |turn|
      by_resolver.stream(question).to_a
      headers = scenario.requests.last["headers"]
      assert_equal ["20261130T104604Z", "token-#{turn + 1}"], headers.values_at("x-amz-date", "x-amz-security-token")
      assert_includes headers["authorization"], "Credential=AKIDRESOLVED/20261130/"
    end
    provider(scenario, credentials: Keys.new("AKIDOBJECT", "test-secret-key")).stream(question).to_a
    assert_includes authorization(scenario), "Credential=AKIDOBJECT/"
  end

  def test_a_key_of_the_service_is_sent_as_it_is
    scenario = script(text("a"))
    provider(scenario, credentials: nil, api_key: "test-bearer-key").stream(question).to_a
    assert_equal "Bearer test-bearer-key", authorization(scenario)
  end

  def test_failures_are_retried_and_told
    seen = []
    exception = {eventstream: [{event: :messageStart, data: {role: :assistant}}, {exception: :throttlingException, data: {message: "Slow."}}]}
    scenario = script({status: 503, headers: {"retry-after" => "0"}, body: {message: "Busy."}}, exception, text("Hello"))
    on_retry = ->(attempt, error, _) { seen << [attempt, error.class, error.message[/Busy|Slow/]] }
    events = provider(scenario, on_retry:, sleeper: ->(_) {}).stream(question).to_a
    assert_equal "Hello", events.last.data[:response].message.text
    stream_error = LittleGhost::Providers::Bedrock::StreamError
    assert_equal [[1, LittleGhost::Providers::HTTPError, "Busy"], [2, stream_error, "Slow"]], seen
    retries = events.select { |event| event.type == :model_retry }
    assert_equal [503, nil], retries.map { |event| event.data[:http_status] }
    assert_equal "throttling_exception", retries.last.data[:error_code]
  end

  def test_exceptions_in_a_stream_have_a_type
    {throttlingException: [:throttling_exception, true], validationException: [:validation_exception, false]}.each do |name, expected|
      scenario = script({eventstream: [{exception: name, data: {message: "No."}}]})
      error = assert_raises(LittleGhost::Providers::Bedrock::StreamError) { provider(scenario, max_retries: 0).stream(question).to_a }
      assert_equal expected, [error.event_type, error.retryable?]
    end
    scenario = script({status: 400, body: {message: "Input is too long for requested model."}})
    assert_raises(LittleGhost::ContextWindowOverflowError) { provider(scenario).stream(question).to_a }
  end

  def test_a_connection_runs_an_agent_with_tools
    tool = {toolUse: {toolUseId: "t1", name: "clock"}}
    scenario = script(frames([tool, {toolUse: {input: "{}"}}], reason: "tool_use"), text("Noon."))
    clock = LittleGhost::Tool.define(name: "clock", description: "Tells the time.") { "12:00" }
    agent = agent_class(clock) { model "aws:#{MODEL}" }
    providers = {aws: {adapter: :bedrock, region: "us-east-1", endpoint: scenario.base_url, credentials: KEYS}}
    runtime = LittleGhost::Runtime.new(configuration: LittleGhost::Configuration.new(providers: providers))
    run = agent.new(runtime: runtime).ask("When?")
    assert_equal ["Noon.", nil], [run.response, run.error]
    turns = scenario.requests.last.dig("body", "messages")
    assert_equal({"toolResult" => {"toolUseId" => "t1", "content" => [{"text" => "12:00"}], "status" => "success"}},
      turns[2]["content"].first)
  end

  def test_a_client_takes_the_place_of_the_engines_own
    asked = []
    client = Object.new
    client.define_singleton_method(:converse_stream) do |**request|
      asked << request
      events = [{event_type: :message_start, role: "assistant"},
        {content_block_delta: {content_block_index: 0, delta: {text: "Hi"}}},
        {event_type: :message_stop, stop_reason: "end_turn"}]
      Struct.new(:stream).new(events)
    end
    tool = LittleGhost::Tool.define(name: "f", description: "Does.", input_schema: {type: "object", properties: {order_number: {type: "string"}}}) { nil }
    provider = LittleGhost::Providers::Bedrock.new(model: "a.b:0", client: client)
    response = provider.stream(question(tools: [tool])).to_a.last.data[:response]
    assert_equal "Hi", response.message.text
    assert_equal ["a.b:0", [{role: "user", content: [{text: "Hi"}]}]], asked.first.values_at(:model_id, :messages)
    schema = asked.first.dig(:tool_config, :tools, 0, :tool_spec, :input_schema, :json)
    assert_equal({"order_number" => {"type" => "string"}}, schema["properties"])
  end

  def test_mistakes_are_named
    [{access_key_id: "AKID"}, {surprise: 1}].each do |options|
      error = assert_raises(LittleGhost::ConfigurationError) { LittleGhost::Providers::Bedrock.new(model: "m", **options) }
      assert_includes error.message, options.keys.first.name
    end
    provider = LittleGhost::Providers::Bedrock.new(model: "m", region: "us-east-1", credentials: KEYS)
    assert_equal "#<LittleGhost::Providers::Bedrock m>", provider.inspect
    refute_predicate provider.capabilities, :known?
    assert_predicate provider.capabilities(metadata: {supported_parameters: ["tools"]}), :tools?
    assert_equal %i[max_response_bytes max_retries max_retry_delay open_timeout read_timeout], provider.class.request_options
  end
end
