# frozen_string_literal: true

require "test_helper"
require "json"
require "socket"
require "tempfile"

# Facts about models, and where they come from.
class CatalogTest < Minitest::Test
  Catalog = LittleGhost::Models::Catalog

  # A source that answers, or raises, what it was given.
  class FixedSource < Catalog::Source
    def initialize(name, answer, strategies = {})
      super(name: name)
      @answer = answer
      @strategies = strategies
    end

    def attribute_merge_strategies = @strategies

    def refresh(target: nil)
      @answer.is_a?(Exception) ? raise(@answer) : @answer
    end
  end

  # Serves one JSON document over and over.
  def serve(document)
    server = TCPServer.new("127.0.0.1", 0)
    heads = Thread::Queue.new
    thread = Thread.new do
      loop do
        socket = server.accept
        heads << socket.gets("\r\n\r\n")
        body = JSON.generate(document)
        socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: #{body.bytesize}\r\nconnection: close\r\n\r\n#{body}")
        socket.close
      end
    rescue IOError
      nil
    end
    yield "http://127.0.0.1:#{server.addr[1]}", heads
  ensure
    server&.close
    thread&.join
  end

  def test_the_snapshot
    details = Catalog.new.details("openai:gpt-5.6-luna")
    assert_predicate details, :known?
    assert_equal 128_000, details.max_output_tokens
    assert_includes details.input_modalities, "image"
    assert_kind_of Numeric, details.pricing[:input]
    assert_equal "bundled:litellm+genai-prices", details.provenance[:pricing]
    assert_equal details.context_window, details[:context_window]
    assert_equal "openai:gpt-5.6-luna", details.to_h[:target]
    assert_predicate details.pricing, :frozen?
    assert_equal({}, Catalog.new.details("openai:nobody").pricing)
    assert_raises(LittleGhost::ConfigurationError) { Catalog.new.details("openai") }
    assert JSON.parse(File.read(Catalog::SNAPSHOT_PATH)).dig("models", "openai:gpt-5.6-luna")
  end

  def test_another_snapshot
    Tempfile.create("snapshot") do |file|
      file.write(JSON.generate(source: {observed_at: "2026-01-02"}, models: {"a:m" => {context_window: 5}}))
      file.flush
      details = Catalog.new(snapshot_path: file.path).details("a:m")
      assert_equal [5, "2026-01-02"], [details.context_window, details.observed_at]
    end
  end

  def test_sources_in_order
    catalog = Catalog.new(
      sources: [
        FixedSource.new("first", {"a:m" => {context_window: 1, input_modalities: ["text"]}}),
        FixedSource.new("down", IOError.new("down")),
        FixedSource.new("second", {"a:m" => {context_window: 2, input_modalities: ["image"]}}, {input_modalities: :union})
      ], clock: -> { Time.utc(2026, 3, 4) }
    )
    result = catalog.refresh!
    assert_equal ["a:m"], result[:updated]
    assert_equal ["down"], result[:errors].map(&:message)
    assert_predicate result, :frozen?
    details = catalog.details("a:m")
    assert_equal [2, %w[text image], "2026-03-04"], [details.context_window, details.input_modalities, details.observed_at]
    assert_equal "first+second", details.provenance[:input_modalities]
  end

  def test_unusable_records_and_strategies
    catalog = Catalog.new(
      sources: [
        FixedSource.new("list", {"a:m" => {supported_parameters: "tools"}}),
        FixedSource.new("strategy", {"a:m" => {context_window: 1}}, {context_window: :larger}),
        Catalog::Source.new(name: "abstract")
      ]
    )
    errors = catalog.refresh!.fetch(:errors)
    assert_equal [LittleGhost::ConfigurationError, LittleGhost::ConfigurationError, LittleGhost::AbstractMethodError], errors.map(&:class)
    refute_predicate catalog.details("a:m"), :known?
  end

  def test_models_dev
    document = {openai: {models: {m: {limit: {context: 7, output: 3}, cost: {input: 1}, tool_call: true}}}}
    serve(document) do |address, heads|
      source = Catalog::ModelsDevSource.new(provider_adapters: {primary: :openai}, base_url: address)
      record = source.refresh.fetch("primary:m")
      assert_equal [7, 3, ["tools"]], record.values_at("context_window", "max_output_tokens", "supported_parameters")
      assert_match(%r{\AGET /api.json}, heads.pop)
    end
  end

  def test_open_router
    document = {data: [{id: "v/m", context_length: 9, pricing: {prompt: "0.000001"}, supported_parameters: ["tool_choice"]}]}
    serve(document) do |address, heads|
      resolver = LittleGhost::ModelResolver.new(
        providers: {primary: {adapter: :openrouter, api_key: "key-12345678", base_url: "#{address}/api/v1"}},
        catalog_sources: [
          LittleGhost::Providers::OpenRouter::CatalogSource.new(
            provider: :primary, credential_resolver: ->(**) { {api_key: "key-12345678", base_url: "#{address}/api/v1"} }
          )
        ]
      )
      assert_equal ["primary:v/m"], resolver.refresh!.fetch(:updated)
      assert_match(/authorization: Bearer key-12345678/i, heads.pop)
      assert_equal 1, resolver.details("primary:v/m").pricing[:input]
      assert_predicate resolver.resolve("primary:v/m").capabilities, :tool_choice?
    end
  end

  def test_lists_of_models_that_need_a_key
    anthropic = LittleGhost::Providers::Anthropic::CatalogSource
    gemini = LittleGhost::Providers::Gemini::CatalogSource
    document = {
      data: [{id: "m", max_input_tokens: 9}],
      models: [{name: "models/m", inputTokenLimit: 9, supportedGenerationMethods: ["generateContent"]}]
    }
    serve(document) do |address, heads|
      [anthropic, gemini].each do |source|
        asked = nil
        given = lambda do |**request|
          asked = request
          {api_key: "key-12345678", base_url: address, unknown: Object.new}
        end
        catalog = Catalog.new(sources: [source.new(provider: :primary, credential_resolver: given)])
        assert_equal({updated: ["primary:m"], errors: []}, catalog.refresh!)
        assert_equal 9, catalog.details("primary:m").context_window
        assert_equal "primary", asked.fetch(:provider)
        assert_match(/(x-api-key|x-goog-api-key): key-12345678/i, heads.pop)
        keyless = Catalog.new(sources: [source.new(provider: :primary, credential_resolver: nil)])
        assert_equal [LittleGhost::CredentialError], keyless.refresh!.fetch(:errors).map(&:class)
      end
    end
    assert_equal({supported_parameters: :union}, anthropic.new(provider: :p, credential_resolver: nil).attribute_merge_strategies)
  end

  def test_a_resolver_without_sources_asks_the_usual_ones
    asked = []
    fetch = ->(kind) { ->(*arguments) { asked << [kind, arguments.first] && raise(LittleGhost::ProtocolError, "not in a test") } }
    resolver = LittleGhost::ModelResolver.new(
      providers: {
        primary: {adapter: :openrouter, api_key: "k"}, direct: {adapter: :openai, api_key: "k"},
        claude: {adapter: :anthropic, api_key: "k"}, gemini: {adapter: :gemini, api_key: "k"},
        aws: {adapter: :bedrock, region: "eu-west-1", credentials: {access_key_id: "k", secret_access_key: "s"}}
      }
    )
    result = stubbed(:models_dev, fetch.call(:models_dev)) do
      stubbed(:own_models, fetch.call(:own_models)) { resolver.refresh! }
    end
    assert_equal 5, result[:errors].length
    adapters = {"primary" => "openrouter", "direct" => "openai", "claude" => "anthropic", "gemini" => "gemini", "aws" => "bedrock"}
    assert_equal [[:models_dev, adapters], *%w[openrouter anthropic gemini bedrock].map { |name| [:own_models, name] }], asked
  end

  # Has the engine's function +name+ do something else while the block runs.
  def stubbed(name, function)
    job = LittleGhost::Native::Job.singleton_class
    original = job.instance_method(name)
    silence { job.define_method(name) { |*arguments| function.call(*arguments) } }
    yield
  ensure
    silence { job.define_method(name, original) }
  end

  def silence
    verbose, $VERBOSE = $VERBOSE, nil
    yield
  ensure
    $VERBOSE = verbose
  end

  def test_a_service_that_is_down
    address = TCPServer.open("127.0.0.1", 0) { |server| "http://127.0.0.1:#{server.addr[1]}" }
    source = Catalog::ModelsDevSource.new(provider_adapters: {primary: :openai}, base_url: address)
    catalog = Catalog.new(sources: [source])
    assert_equal [LittleGhost::Providers::HTTPError], catalog.refresh!.fetch(:errors).map(&:class)
  end

  def test_what_is_no_source_says_so
    error = assert_raises(ArgumentError) { LittleGhost::Models::Catalog.new(sources: [5]) }
    assert_match(/Catalog::Source, got Integer/, error.message)
  end
end
