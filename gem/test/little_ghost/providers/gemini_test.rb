# frozen_string_literal: true

require "test_helper"

# Gemini and Vertex AI, used without an agent and by one.
class GeminiTest < Minitest::Test
  include ScriptedRuns

  SIGNATURE = "EpwCCpkC+/x=="

  def question(**options)
    LittleGhost::ModelRequest.new(messages: [{role: :user, content: "Hi"}], **options)
  end

  def gemini(scenario, **options)
    LittleGhost::Providers::Gemini.new(api_key: "test-key", model: "gemini-3-pro", base_url: scenario.base_url, **options)
  end

  def vertex(scenario, **options)
    LittleGhost::Providers::VertexAI.new(model: "gemini-3-pro", project: "my-project", base_url: scenario.base_url, **options)
  end

  def says(*parts, reason: "STOP")
    {sse: [
      {candidates: [{content: {role: "model", parts: parts}, finishReason: reason, index: 0}],
       usageMetadata: {promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5}, modelVersion: "gemini-3-pro-001"}
    ]}
  end

  def test_a_request_without_an_agent
    scenario = script(says({text: "Hello"}))
    events = gemini(scenario).stream(question(settings: {max_tokens: 9})).to_a
    assert_equal %i[message_start text_delta usage message_stop], events.map(&:type)
    assert_equal "gemini-3-pro-001", events.first.data[:model]
    request = scenario.requests.first
    assert_equal "models/gemini-3-pro:streamGenerateContent", request["path"]
    assert_equal ["alt=sse", "test-key"], [request["query"], request.dig("headers", "x-goog-api-key")]
    assert_equal 9, request.dig("body", "generationConfig", "maxOutputTokens")
  end

  def test_signatures_come_back_from_a_history
    call = {functionCall: {id: "c1", name: "lookup", args: {topic: "refunds"}}, thoughtSignature: SIGNATURE}
    scenario = script(says(call), says({text: "Done"}))
    tool = LittleGhost::Tool.define(name: "lookup", description: "Finds a topic.", input_schema: {type: "object"}) { |_| "found" }
    agent_class(tool) { model "vertex:gemini-3-pro" }.new(runtime: runtime(scenario)).ask("Hi")
    parts = scenario.requests.last.dig("body", "contents").flat_map { |content| content["parts"] }
    assert_equal SIGNATURE, parts[1]["thoughtSignature"]
    assert_equal({"id" => "c1", "name" => "lookup", "response" => {"output" => "found"}}, parts[2]["functionResponse"])
  end

  def test_a_token_may_be_asked_for_before_each_request
    scenario = script(says({text: "One"}), says({text: "Two"}))
    tokens = %w[first second]
    provider = vertex(scenario, location: "eu", credential_resolver: -> { tokens.shift })
    2.times { provider.stream(question).to_a }
    assert_equal ["Bearer first", "Bearer second"], scenario.requests.map { |request| request.dig("headers", "authorization") }
    path = "projects/my-project/locations/eu/publishers/google/models/gemini-3-pro:streamGenerateContent"
    assert_equal path, scenario.requests.first["path"]
    refute_includes provider.inspect, "first"
  end

  def test_retries_are_told
    scenario = script({status: 503, body: {error: {code: 503, status: "UNAVAILABLE"}}}, says({text: "Hello"}))
    told = []
    provider = gemini(scenario, max_retry_delay: 0.01, on_retry: ->(attempt, error, _) { told << [attempt, error.status] })
    provider.stream(question).to_a
    assert_equal [[1, 503]], told
  end

  def test_mistakes_are_named
    error = assert_raises(LittleGhost::CredentialError) do
      LittleGhost::Providers::Gemini.new(api_key: nil, model: "gemini-3-pro").stream(question).to_a
    end
    assert_includes error.message, "api_key"
    other = LittleGhost::Providers::VertexAI.new(model: "publishers/anthropic/models/x", project: "p", access_token: "t")
    assert_raises(LittleGhost::ConfigurationError) { other.stream(question).to_a }
  end

  def test_capabilities_and_policies
    assert LittleGhost::Providers::Gemini.new(api_key: "k", model: "m", unknown: 1).capabilities.native_structured_output?
    assert_includes LittleGhost::Providers::VertexAI.request_options, :read_timeout
  end

  private

  def runtime(scenario)
    connection = {adapter: :vertex_ai, project: "my-project", access_token: "t", base_url: scenario.base_url}
    configuration = LittleGhost::Configuration.new({providers: {vertex: connection}, default_model: "vertex:gemini-3-pro"})
    LittleGhost::Runtime.new(configuration: configuration)
  end
end
