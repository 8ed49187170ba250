# frozen_string_literal: true

require "test_helper"

# From roles, targets and mappings to models.
class ModelResolverTest < Minitest::Test
  include ScriptedRuns

  PROVIDERS = {
    primary: {adapter: :openrouter, api_key: "sk-hidden"},
    direct: {adapter: :openai, api_key: "sk-hidden"}
  }.freeze
  PROFILES = {
    support: {target: "primary:openai/gpt-5.6-luna", settings: {temperature: 0.2, max_tokens: 9_000_000}, request: {app_name: "Desk"}},
    "support.careful": {inherits: "support", settings: {temperature: 0}}
  }.freeze

  # Answers with its tenant.
  class GatewayProvider < LittleGhost::Providers::Base
    attr_reader :options

    def self.request_options = [:read_timeout]

    def initialize(model:, **options)
      super()
      @model = model
      @options = options
    end

    def stream(_request)
      message = LittleGhost::Message.new(role: :assistant, content: "#{@model} for #{options[:tenant]}")
      yield LittleGhost::StreamEvent.build(:text_delta, text: message.text)
      yield LittleGhost::StreamEvent.build(
        :message_stop, response: LittleGhost::ModelResponse.new(message: message, stop_reason: :end_turn)
      )
    end
  end

  def resolver(**options)
    LittleGhost::ModelResolver.new(providers: PROVIDERS, profiles: PROFILES, default_model: "support", **options)
  end

  def test_roles_targets_mappings_and_the_default
    model = resolver.resolve(:support)
    assert_equal ["primary:openai/gpt-5.6-luna", "openai/gpt-5.6-luna", "support"], [model.target, model.model_id, model.role]
    assert_equal({"temperature" => 0.2, "max_tokens" => 128_000}, model.settings)
    assert_instance_of LittleGhost::Providers::OpenRouter, model.provider
    assert_predicate model.capabilities, :native_structured_output?
    assert_equal 1_050_000, model.details.context_window
    assert_equal 0, resolver.resolve("support.careful.today").settings["temperature"]
    assert_equal "support", resolver.resolve(nil).role
    inline = resolver.resolve({provider: "direct", model: "gpt-5.6-luna", reasoning_effort: "high"})
    assert_equal ["direct:gpt-5.6-luna", {"reasoning_effort" => "high"}], [inline.target, inline.settings]
    assert_nil resolver.resolve("direct:nobody-knows").role
    refute_predicate resolver.resolve("direct:nobody-knows").details, :known?
    overlaid = resolver.resolve(:support, profiles: {support: {settings: {temperature: 1}}})
    assert_equal 1, overlaid.settings["temperature"]
    assert_same model, resolver.resolve(model)
  end

  def test_what_is_unknown
    assert_raises(LittleGhost::ConfigurationError) { resolver.resolve(:nobody) }
    assert_raises(LittleGhost::ConfigurationError) { resolver.resolve("nowhere:m") }
    assert_raises(LittleGhost::ConfigurationError) { resolver(providers: {a: {adapter: :openai, base_uri: "x"}}) }
    [nil, "openai"].each do |options|
      error = assert_raises(LittleGhost::ConfigurationError) { resolver(providers: {a: options}) }
      assert_match(/connection a must be a Hash with an adapter/, error.message)
    end
    assert_raises(LittleGhost::ConfigurationError) { resolver(providers: [1]) }
    assert_raises(LittleGhost::AdapterLoadError) { resolver(providers: {a: {adapter: :nothing}}) }
    refute_match(/sk-hidden/, resolver.inspect)
    refute_match(/sk-hidden/, resolver.providers.inspect)
  end

  def test_an_application_has_adapters
    providers = PROVIDERS.merge(gateway: {adapter: :gateway, tenant: "blue"})
    seen = nil
    factory = lambda do |model:, configuration:, role:, **|
      seen = [model, configuration, role]
      GatewayProvider.new(model: model, **configuration)
    end
    profiles = {support: {target: "gateway:m", request: {read_timeout: 3}}}
    runtime = LittleGhost::Configuration.new(providers: providers, models: profiles, provider_adapters: {gateway: factory}).runtime
    selected = agent_class { model :support }
    assert_equal "m for blue", selected.new(runtime: runtime).ask("Hi").response
    assert_equal ["m", {tenant: "blue", read_timeout: 3}, "support"], seen
    by_class = resolver(providers: providers, provider_adapters: {gateway: GatewayProvider}, profiles: profiles)
    assert_equal({tenant: "blue", read_timeout: 3}, by_class.resolve(:support).provider.options)
    wrong = resolver(providers: providers, provider_adapters: {gateway: ->(model:, configuration:) { [model, configuration] }})
    assert_raises(LittleGhost::AdapterLoadError) { wrong.resolve("gateway:m") }
  end

  def test_adapters_are_registered_as_classes_and_factories
    providers = {gateway: {adapter: :gateway, tenant: "blue", color: nil, session: Object.new}}
    configuration = LittleGhost::Configuration.new(providers: providers, default_model: "gateway:m")
    assert_same GatewayProvider, configuration.provider_adapter(:gateway, GatewayProvider)
    assert_equal "m for blue", agent_class.new(runtime: configuration.runtime).ask("Hi").response
    made = configuration.runtime.model_resolver.resolve("gateway:m").provider
    assert_equal %i[tenant session], made.options.keys
    other = LittleGhost::Configuration.new(providers: providers)
    seen = nil
    other.provider_adapter("gateway") do |model:, configuration:, details:, invocation:, context:, settings:, role:, extra: nil|
      seen = [model, configuration.keys, role, settings, details.class, extra]
      GatewayProvider.new(model: model)
    end
    other.runtime.model_resolver.resolve("gateway:m", extra: 3)
    assert_equal ["m", %i[tenant color session], nil, {}, LittleGhost::Models::Details, 3], seen
    assert_raises(ArgumentError) { configuration.class.new.provider_adapter(:gateway, String) }
  end

  def test_what_adapters_cannot_make
    strict = Class.new(LittleGhost::Providers::Base) { define_method(:initialize) { |model:, key:| super() } }
    providers = {gateway: {adapter: :gateway, tenant: "blue"}}
    error = assert_raises(LittleGhost::ConfigurationError) { resolver(providers: providers, provider_adapters: {gateway: strict}).resolve("gateway:m") }
    assert_match(/connection gateway: missing keyword: :key|unknown keyword/, error.message)
    error = assert_raises(LittleGhost::AdapterLoadError) do
      resolver(providers: providers, provider_adapters: {gateway: ->(model:) { model }}).resolve("gateway:m")
    end
    assert_match(/adapter gateway of connection gateway must make a LittleGhost::Providers::Base, got String/, error.message)
    lost = ->(**) { raise LoadError, "no such gem" }
    error = assert_raises(LittleGhost::AdapterLoadError) { resolver(providers: providers, provider_adapters: {gateway: lost}).resolve("gateway:m") }
    assert_match(/no such gem/, error.message)
    registry = LittleGhost::ProviderRegistry.new
    assert_equal %w[openai openai_compatible openrouter anthropic gemini vertex_ai bedrock], registry.names
  end

  def test_credentials_are_asked_for_whenever_a_model_is_made
    scenario = script({chat: {text: "Hi"}}, cycle: true)
    asked = []
    numbers = (1..).each
    credentials = lambda do |provider:, adapter:, configuration:|
      asked << [provider, adapter, configuration.keys]
      {api_key: "key-#{numbers.next}"}
    end
    configuration = LittleGhost::Configuration.new(
      providers: {local: {adapter: :openai_compatible, api: "chat_completions", base_url: scenario.base_url}},
      models: {default: {target: "local:m"}}
    )
    configuration.provider_credentials(credentials)
    agent = agent_class.new(runtime: configuration.runtime)
    2.times { assert_equal "Hi", agent.ask("Hi").response }
    sent = scenario.requests.map { |request| request["headers"]["authorization"] }
    assert_equal ["Bearer key-1", "Bearer key-2"], sent
    assert_equal ["local", "openai_compatible", %w[api base_url]], asked.first
    broken = resolver(credential_resolver: ->(**) { "key" })
    assert_raises(LittleGhost::CredentialError) { broken.resolve(:support) }
  end

  def test_connections_may_bring_their_own_credentials
    vault = Class.new(LittleGhost::Providers::Configuration) do
      def credentials(provider:, **) = {"api_key" => "key of #{provider}"}
    end
    scenario = script({chat: {text: "Hi"}})
    connections = vault.new(local: {adapter: "openai_compatible", api: "chat_completions", base_url: scenario.base_url})
    model = LittleGhost::ModelResolver.new(providers: connections).resolve("local:m")
    model.stream(LittleGhost::ModelRequest.new(messages: [{role: :user, content: "Hi"}])).to_a
    assert_equal "Bearer key of local", scenario.requests.first.dig("headers", "authorization")
  end

  def test_a_resolver_class_of_the_application
    scenario = script({chat: {text: "Hi"}})
    own = Class.new(LittleGhost::ModelResolver) do
      def resolve(selection, **options) = super("local:#{selection}", **options)
    end
    runtime = LittleGhost::Configuration.new(
      model_resolver: own,
      providers: {local: {adapter: :openai_compatible, api: "chat_completions", base_url: scenario.base_url}}
    ).runtime
    assert_instance_of own, runtime.model_resolver
    agent_class { model :large }.new(runtime: runtime).ask("Hi")
    assert_equal "large", scenario.requests.first.dig("body", "model")
  end
end
