# frozen_string_literal: true

require "test_helper"

# Bedrock by way of somebody else's client.
class BedrockClientTest < Minitest::Test
  # What AWS's SDK raises; the library goes by the names.
  module Errors
    class ThrottlingException < StandardError; end

    class NetworkingError < StandardError; end

    class ValidationException < StandardError; end
  end

  # An event as the SDK has them: a Struct with its type.
  Delta = Struct.new(:text, keyword_init: true)
  BlockDelta = Struct.new(:delta, :content_block_index, :event_type, keyword_init: true)

  # Answers each request with the next of its replies: events, or an exception.
  class Client
    attr_reader :requests

    def initialize(*replies)
      @replies = replies
      @requests = []
    end

    def converse_stream(**request)
      @requests << request
      reply = @replies.shift
      raise reply if reply.is_a?(Exception)

      Struct.new(:stream).new(reply.each)
    end
  end

  HELLO = [
    {event_type: :message_start, role: "assistant"},
    {content_block_delta: {content_block_index: 0, delta: {text: "Hel"}}},
    BlockDelta.new(delta: Delta.new(text: "lo"), content_block_index: 0, event_type: :content_block_delta),
    {event_type: :content_block_stop, content_block_index: 0},
    {event_type: :message_stop, stop_reason: "end_turn"},
    {event_type: :metadata, usage: {input_tokens: 8, output_tokens: 2, total_tokens: 10}, metrics: {latency_ms: 1}}
  ].freeze

  def provider(client, **options)
    LittleGhost::Providers::Bedrock.new(model: "arn:aws:bedrock:x/y", client: client, sleeper: ->(_) {}, **options)
  end

  def ask(client, request = LittleGhost::ModelRequest.new(messages: [{role: :user, content: "Hi"}]), **options)
    provider(client, **options).stream(request).to_a
  end

  def test_events_that_are_none_are_told
    error = assert_raises(LittleGhost::ProtocolError) { ask(Client.new([5])) }
    assert_match(/must yield events that have to_h, got Integer/, error.message)
  end

  def test_it_is_asked_in_snake_case_and_user_data_stays_as_it_is
    schema = {type: "object", properties: {orderNumber: {type: "string"}, order_line: {type: "integer"}}}
    image = LittleGhost::Content::Image.new(data: "\x89PNG\xFF".b, media_type: "image/png")
    call = LittleGhost::Content::ToolUse.new(id: "call_1", name: "look", input: {"orderNumber" => "4", "order_line" => 1})
    client = Client.new(HELLO)
    events = ask(client, LittleGhost::ModelRequest.new(
      messages: [
        {role: :user, content: [image]}, {role: :assistant, content: [call]},
        {role: :tool, content: [LittleGhost::Content::ToolResult.new(tool_use_id: "call_1", content: "3", status: :success)]}
      ],
      tools: [{name: "look", description: "Looks.", input_schema: schema}],
      settings: {max_tokens: 5, additional_model_request_fields: {someThing: {innerKey: 1}}}
    ))
    assert_equal "Hello", events.last.data[:response].message.text
    assert_equal 8, events.last.data[:response].usage.input_tokens
    request = client.requests.fetch(0)
    assert_equal "arn:aws:bedrock:x/y", request[:model_id]
    assert_equal "\x89PNG\xFF".b, request[:messages][0][:content][0][:image][:source][:bytes]
    assert_equal({"orderNumber" => "4", "order_line" => 1}, request[:messages][1][:content][0][:tool_use][:input])
    assert_equal %w[orderNumber order_line], request.dig(:tool_config, :tools, 0, :tool_spec, :input_schema, :json)["properties"].keys
    assert_equal({max_tokens: 5}, request[:inference_config])
    assert_equal({"someThing" => {"innerKey" => 1}}, request[:additional_model_request_fields])
  end

  def test_failures_are_judged_by_their_names
    told = []
    client = Client.new(Errors::ThrottlingException.new("slow"), Errors::NetworkingError.new("gone"), HELLO)
    events = ask(client, on_retry: ->(*facts) { told << facts })
    assert_equal "Hello", events.last.data[:response].message.text
    assert_equal [Errors::ThrottlingException, Errors::NetworkingError], told.map { |_, error, _| error.class }
    final = Errors::ValidationException.new("bad model")
    assert_same final, assert_raises(Errors::ValidationException) { ask(Client.new(final)) }
    long = Errors::ValidationException.new("Input is too long for requested model.")
    assert_raises(LittleGhost::ContextWindowOverflowError) { ask(Client.new(long)) }
  end

  def test_an_error_in_the_stream
    error = [HELLO.first, {event_type: :throttling_exception, message: "slow"}]
    assert_equal "Hello", ask(Client.new(error, HELLO)).last.data[:response].message.text
    refused = [HELLO.first, {event_type: :validation_exception, message: "no"}]
    assert_raises(LittleGhost::ProviderError) { ask(Client.new(refused)) }
  end

  def test_what_is_no_client
    assert_raises(LittleGhost::ConfigurationError) { provider(3) }
    error = assert_raises(LittleGhost::ConfigurationError) { provider(Client.new, credential_resolver: -> {}).then { provider(Object.new) } }
    assert_match(/converse_stream/, error.message)
  end

  def test_agents_use_a_configured_client
    client = Client.new(HELLO)
    runtime = LittleGhost::Configuration.new(providers: {aws: {adapter: :bedrock, client: client}}, default_model: "aws:m").runtime
    agent = Class.new(LittleGhost::Agent) do
      agent_id "asker"
      system_prompt "Be brief."
    end
    assert_equal "Hello", agent.new(runtime: runtime).ask("Hi").response
    assert_equal [{text: "Be brief."}], client.requests.first[:system]
  end
end
