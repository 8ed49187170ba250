# frozen_string_literal: true

require "test_helper"

# Models as objects: what they know, and requests outside a run.
class ModelTest < Minitest::Test
  include ScriptedRuns

  def question(**options)
    LittleGhost::ModelRequest.new(messages: [{role: :user, content: "Hi"}], **options)
  end

  def provider(scenario, **options)
    LittleGhost::Providers::OpenAICompatible.new(
      api_key: "test-key", model: "test-model", base_url: scenario.base_url, api: :chat_completions, **options
    )
  end

  def model(scenario, **options)
    LittleGhost::Model.new(provider: provider(scenario), target: "local:test-model", **options)
  end

  def test_it_streams_one_request_outside_a_run
    scenario = script({chat: {text: %w[Hel lo]}})
    events = []
    model(scenario, settings: {temperature: 0.2, seed: 7}).stream(question(settings: {temperature: 1})) { |event| events << event }
    assert_equal %i[message_start text_delta text_delta usage message_stop], events.map(&:type)
    response = events.last.data[:response]
    assert_equal ["Hello", :end_turn], [response.message.text, response.stop_reason]
    body = scenario.requests.first.fetch("body")
    assert_equal [1, 7, "Hi"], [body["temperature"], body["seed"], body.dig("messages", 0, "content", 0, "text")]
  end

  def test_subscribers_are_told_of_a_request_outside_a_run
    names = []
    subscriber = Class.new(LittleGhost::Instrumentation::Subscriber) { define_method(:finish) { |name, _| names << name } }.new
    LittleGhost::Instrumentation.subscribed(subscriber) { model(script({chat: {text: "Hello"}})).stream(question) {} }
    refute_includes names, :run
  end

  def test_without_a_block_there_is_an_enumerator
    stream = model(script({chat: {text: "Hello"}})).stream(question)
    assert_equal :message_stop, stream.map(&:type).last
  end

  def test_leaving_early_closes_the_connection
    scenario = silent_script
    first = model(scenario).stream(question) { |event| break event if event.type == :text_delta }
    assert_equal "first", first.data[:text]
    scenario.wait(disconnects: 1)
  end

  def test_an_exception_of_the_consumer_is_raised
    error = assert_raises(ZeroDivisionError) { model(script({chat: {text: "a"}})).stream(question) { 1 / 0 } }
    assert_instance_of ZeroDivisionError, error
  end

  def test_failures_are_raised
    error = assert_raises(LittleGhost::Providers::HTTPError) { model(script({status: 400, body: "no"})).stream(question) { nil } }
    assert_equal 400, error.status
  end

  def test_a_token_cancels_the_request
    token = LittleGhost::Support::CancellationToken.new
    assert_raises(LittleGhost::CancelledError) do
      model(silent_script).stream(question(cancellation_token: token)) { |event| token.cancel if event.type == :text_delta }
    end
  end

  def test_tools_and_choices_are_sent
    scenario = script(tool_calls(["lookup", {topic: "refunds"}]))
    tool = {name: "lookup", description: "Finds a topic.", input_schema: {type: "object", properties: {topic: {type: "string"}}}}
    events = model(scenario).stream(question(tools: [tool], tool_choice: "required")).to_a
    call = events.last.data[:response].message.content.grep(LittleGhost::Content::ToolUse).first
    assert_equal ["lookup", {"topic" => "refunds"}], [call.name, call.input.to_h]
    body = scenario.requests.first.fetch("body")
    assert_equal ["lookup", "required"], [body.dig("tools", 0, "function", "name"), body["tool_choice"]]
  end

  def test_limits_and_modalities_come_from_the_details
    scenario = script({chat: {text: "a"}})
    limited = model(scenario, settings: {max_tokens: 500}, details: {max_output_tokens: 100, input_modalities: ["text"]})
    assert_equal 100, limited.settings["max_tokens"]
    limited.stream(question(settings: {max_tokens: 900})) { nil }
    assert_equal 100, scenario.requests.first.dig("body", "max_tokens")
    image = LittleGhost::Content::Image.new(data: "x", media_type: "image/png")
    request = LittleGhost::ModelRequest.new(messages: [{role: :user, content: [image]}])
    error = assert_raises(LittleGhost::UnsupportedInputError) { limited.stream(request) { nil } }
    assert_match(/image input; it takes text/, error.message)
  end

  def test_on_retry_is_told
    told = []
    scenario = script({status: 500, body: "down"}, {chat: {text: "up"}})
    retried = provider(scenario, max_retry_delay: 0.01, on_retry: ->(*facts) { told << facts })
    events = retried.stream(question).to_a
    assert_includes events.map(&:type), :model_retry
    attempt, error, delay = told.fetch(0)
    assert_equal [1, 500], [attempt, error.status]
    assert_in_delta 0.01, delay, 0.01
  end

  def test_nothing_shows_credentials
    openai = LittleGhost::Providers::OpenAI.new(api_key: "sk-hidden", model: "m")
    made = LittleGhost::Model.new(provider: openai, target: "a:m")
    [openai, made].each { |object| refute_match(/sk-hidden/, object.inspect) }
  end

  def test_capabilities
    router = LittleGhost::Providers::OpenRouter.new(api_key: "k", model: "m")
    known = router.capabilities(metadata: {supported_parameters: %w[tools response_format]})
    assert_equal [true, true, true, false], [known.known?, known.tools?, known.native_structured_output?, known.tool_choice?]
    refute_predicate router.capabilities, :known?
    request = question(settings: {temperature: 1, seed: 2}, required_capabilities: [:structured_outputs])
    assert_empty router.prepare_request(request, capabilities: known).settings
    permissive = LittleGhost::ModelCapabilities.permissive
    assert permissive.supports_parameter?(:seed)
    refute known.supports_parameter?(:seed)
    assert known.supports_parameter?(:seed, :tools)
  end
end
