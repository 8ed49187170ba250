# frozen_string_literal: true

require "test_helper"

# Objects of the application in the place of parts of a provider.
class ProviderPartsTest < Minitest::Test
  include ScriptedRuns

  # Answers each request with the next of its replies: an Array of Strings, or an exception.
  class Transport
    attr_reader :requests

    def initialize(*replies)
      @replies = replies
      @requests = []
    end

    def stream(path:, headers:, body:, cancellation_token:, deadline: nil)
      @requests << {path: path, headers: headers, body: JSON.parse(body), deadline: deadline}
      reply = @replies.shift or raise "unexpected request"
      raise reply if reply.is_a?(Exception)

      reply.each { |chunk| yield chunk }
    end
  end

  def chat(*texts)
    events = texts.map { |text| {choices: [{index: 0, delta: {content: text}}]} }
    events << {choices: [{index: 0, delta: {}, finish_reason: "stop"}], usage: {prompt_tokens: 3, completion_tokens: 2}}
    events.map { |event| "data: #{JSON.generate(event)}\n\n" } + ["data: [DONE]\n\n"]
  end

  def down(status = 503, body = "down")
    LittleGhost::Providers::HTTPError.new("the service said no", status: status, body: body)
  end

  def question(**options)
    LittleGhost::ModelRequest.new(messages: [{role: :user, content: "Hi"}], **options)
  end

  def provider(transport, **options)
    LittleGhost::Providers::OpenAICompatible.new(
      api_key: "test-key", model: "m", base_url: "https://models.example.test/v1", api: :chat_completions, transport: transport, **options
    )
  end

  def test_a_transport_carries_requests
    transport = Transport.new(chat("Hel", "lo"))
    deadline = Time.now + 60
    events = provider(transport, headers: {"X-Tenant" => "blue"}).stream(question(deadline: deadline)).to_a
    assert_equal %i[message_start text_delta text_delta usage message_stop], events.map(&:type)
    request = transport.requests.fetch(0)
    assert_equal ["chat/completions", "m"], [request[:path], request[:body]["model"]]
    assert_equal ["Bearer test-key", "application/json", "blue"], request[:headers].values_at("Authorization", "Content-Type", "X-Tenant")
    assert_in_delta deadline.to_f, request[:deadline].to_f, 0.001
  end

  def test_headers_and_formats_that_do_not_fit_are_told
    [["a"], "a: b", 5].each do |headers|
      error = assert_raises(LittleGhost::ConfigurationError) { provider(Transport.new, headers: headers) }
      assert_match(/headers must be a Hash/, error.message)
    end
    assert_equal :message_stop, provider(Transport.new(chat("Hi")), headers: nil).stream(question).to_a.last.type
    [nil, :chat].each do |api|
      error = assert_raises(LittleGhost::ConfigurationError) { LittleGhost::Providers::OpenAI.new(api_key: "k", model: "m", api: api) }
      assert_match(/api must be :responses or :chat_completions/, error.message)
    end
  end

  def test_what_is_no_text_is_no_token
    gemini = LittleGhost::Providers::VertexAI.new(
      project: "p", model: "gemini-3-flash-preview", base_url: "http://127.0.0.1:1", credential_resolver: -> { "\xFF".b }
    )
    error = assert_raises(LittleGhost::CredentialError) { gemini.stream(question).to_a }
    assert_match(/token of text/, error.message)
  end

  def test_a_transport_may_return_what_it_yields
    transport = Object.new
    reply = chat("Hello").join.chars
    transport.define_singleton_method(:stream) { |**| reply }
    assert_equal "Hello", provider(transport).stream(question).to_a.last.data[:response].message.text
  end

  def test_a_document_is_understood
    document = JSON.generate(choices: [{index: 0, message: {role: "assistant", content: "whole"}, finish_reason: "stop"}])
    assert_equal "whole", provider(Transport.new([document])).stream(question).to_a.last.data[:response].message.text
  end

  def test_events_come_while_the_transport_goes_on
    seen = Queue.new
    transport = Object.new
    parts = chat("first", "second")
    transport.define_singleton_method(:stream) do |**, &block|
      block.call(parts[0])
      raise "the first event was not delivered" unless seen.pop(timeout: 5) == "first"

      parts.drop(1).each { |part| block.call(part) }
    end
    texts = []
    provider(transport).stream(question) do |event|
      next unless event.type == :text_delta

      texts << event.data[:text]
      seen << event.data[:text]
    end
    assert_equal %w[first second], texts
  end

  def test_leaving_early_ends_the_transport
    ended = Queue.new
    parts = chat("first")
    transport = Object.new
    transport.define_singleton_method(:stream) do |cancellation_token:, **, &block|
      block.call(parts[0])
      cancellation_token.wait(5)
      block.call(parts[1])
      ended << :went_on
    ensure
      ended << cancellation_token.cancelled?
    end
    provider(transport).stream(question) { |event| break if event.type == :text_delta }
    assert_equal true, ended.pop(timeout: 5)
    assert_empty ended
  end

  def test_failures_are_retried_with_a_sleeper_and_told
    slept = []
    told = []
    transport = Transport.new(down, down(429), chat("up"))
    provider = provider(transport, sleeper: ->(seconds) { slept << seconds }, on_retry: ->(*facts) { told << facts })
    events = provider.stream(question).to_a
    assert_equal "up", events.last.data[:response].message.text
    assert_equal [[1, 503], [2, 429]], told.map { |attempt, error, _| [attempt, error.status] }
    assert_equal ["the service said no"], told.map { |_, error, _| error.message }.uniq
    assert_equal slept, told.map(&:last)
    retries = events.select { |event| event.type == :model_retry }
    assert_equal [503, 429], retries.map { |event| event.data[:http_status] }
    assert_equal slept, retries.map { |event| event.data[:delay] }
  end

  def test_what_a_transport_raises_comes_back_as_it_is
    [down(400, "no"), IOError.new("closed"), ArgumentError.new("odd")].each do |failure|
      assert_same failure, assert_raises(failure.class) { provider(Transport.new(failure)).stream(question).to_a }
    end
  end

  def test_a_context_that_is_too_long_is_told_apart
    failure = down(400, '{"error":{"code":"context_length_exceeded"}}')
    assert_raises(LittleGhost::ContextWindowOverflowError) { provider(Transport.new(failure)).stream(question).to_a }
  end

  def test_what_no_transport_yields
    error = assert_raises(LittleGhost::ProtocolError) { provider(Transport.new([:symbol])).stream(question).to_a }
    assert_match(/must yield Strings, got Symbol/, error.message)
    assert_raises(LittleGhost::ProtocolError) { provider(Transport.new([]), max_retries: 0).stream(question).to_a }
    assert_raises(LittleGhost::ProtocolError) { provider(Transport.new(chat("long" * 100)), max_response_bytes: 100).stream(question).to_a }
    # Parts that fill the limit exactly are no end of the response.
    error = assert_raises(LittleGhost::ProtocolError) { provider(Transport.new([": 34567\n\n"] * 12), max_response_bytes: 90).stream(question).to_a }
    assert_match(/larger than 90 bytes/, error.message)
  end

  def test_agents_use_them_from_the_configuration_and_directly
    direct = Transport.new(down, chat("direct"))
    slept = []
    agent = agent_class { model "local:m" }
    agent.model(provider(direct, sleeper: ->(seconds) { slept << seconds }))
    assert_equal "direct", agent.new.ask("Hi").response
    assert_equal 1, slept.length

    configured = Transport.new(chat("configured"))
    runtime = LittleGhost::Configuration.new(
      providers: {local: {adapter: :openai_compatible, api_key: "k", base_url: "https://a.test/v1", api: :chat_completions, transport: configured}}
    ).runtime
    other = agent_class { model "local:m" }
    assert_equal "configured", other.new(runtime: runtime).ask("Hi").response
    assert_equal "Bearer k", configured.requests.first[:headers]["Authorization"]
  end

  def test_cancelling_a_run_ends_its_transport
    waiting = Queue.new
    ended = Queue.new
    transport = Object.new
    transport.define_singleton_method(:stream) do |cancellation_token:, **|
      waiting << true
      ended << cancellation_token.wait(5)
    end
    agent = agent_class {}
    agent.model(provider(transport))
    token = LittleGhost::Support::CancellationToken.new
    canceller = Thread.new { waiting.pop(timeout: 5) && token.cancel }
    run = agent.new.ask("Hi", cancellation_token: token)
    canceller.join
    assert_equal true, ended.pop(timeout: 5)
    assert_predicate run, :cancelled?
  end

  def test_what_is_no_part_says_so
    error = assert_raises(LittleGhost::ConfigurationError) { provider(-> {}) }
    assert_match(/transport must be an object with stream, got Proc/, error.message)
    assert_raises(LittleGhost::ConfigurationError) { provider(Transport.new, sleeper: 3) }
  end

  def test_exceptions_of_hooks_end_the_request
    assert_raises(ZeroDivisionError) { provider(Transport.new(down), on_retry: ->(*) { 1 / 0 }).stream(question).to_a }
    assert_raises(ZeroDivisionError) { provider(Transport.new(down), sleeper: ->(_) { 1 / 0 }).stream(question).to_a }
  end
end
