# frozen_string_literal: true

require_relative "../test_helper"

class ConfigurationTest < Minitest::Test
  include ScriptedRuns

  Configuration = LittleGhost::Configuration

  def test_readers_and_writers
    configuration = Configuration.new(default_model: :support, anything: 1)
    assert_same(configuration, configuration.configure do |config|
      config.service_name "support-api"
      config.concurrency_backend = "thread"
      config[:other] = 2
    end)
    assert_equal ["support", "support-api", :thread, 1, 2],
      [configuration.default_model, configuration.service_name, configuration.concurrency_backend, configuration[:anything], configuration["other"]]
    assert_raises(KeyError) { configuration[:never] }
    assert_raises(ArgumentError) { configuration.concurrency_backend = :process }
    fresh = Configuration.new
    assert_equal [:auto, "little-ghost", LittleGhost::Invocation, nil],
      [fresh.concurrency_backend, fresh.service_name, fresh.invocation, fresh.providers]
  end

  def test_the_runtime_locks_it
    configuration = Configuration.new(providers: {local: {adapter: :openai_compatible, base_url: "http://127.0.0.1:1/v1", api_key: "k"}})
    runtime = configuration.runtime
    assert_same runtime, configuration.runtime
    assert_same configuration, runtime.configuration
    assert_predicate runtime.settings, :frozen?
    error = assert_raises(LittleGhost::ConfigurationError) { configuration.service_name = "late" }
    assert_match(/before/, error.message)
    LittleGhost::Runtime.new(configuration: open = Configuration.new(providers: configuration.providers))
    open.service_name = "still open"
  end

  def test_a_failed_build_leaves_it_open
    configuration = Configuration.new(providers: {bad: {}})
    error = assert_raises(LittleGhost::ConfigurationError) { configuration.runtime }
    assert_match(/adapter/, error.message)
    configuration.providers = {local: {adapter: :openai_compatible, base_url: "http://127.0.0.1:1/v1", api_key: "k"}}
    assert_instance_of LittleGhost::Runtime, configuration.runtime
  end

  def test_an_unknown_adapter_is_reported_when_the_runtime_is_built
    configuration = Configuration.new(providers: {a: {adapter: :nonsense}}, models: {default: {target: "a:m"}})
    error = assert_raises(LittleGhost::AdapterLoadError) { configuration.runtime }
    assert_match(/nonsense/, error.message)
  end

  def test_values_that_are_no_data
    error = assert_raises(LittleGhost::ConfigurationError) { Configuration.new(providers: {a: {adapter: :openai, api_key: -> {}}}).runtime }
    assert_match(/Proc/, error.message)
  end

  def test_nothing_shows_credentials
    configuration = Configuration.new(providers: {a: {adapter: :openai, api_key: "sk-hidden"}})
    runtime = configuration.runtime
    run = runtime.build_run({message: "a"}, entrypoint_class: LittleGhost::Agent)
    [configuration, runtime, run, LittleGhost::Agent.new(runtime: runtime)].each { |object| refute_match(/sk-hidden/, object.inspect) }
    bad = Configuration.new(providers: {a: {adapter: :openai, api_key: "sk-hidden", nonsense: 1}}, models: {default: {target: "a:m"}})
    error = assert_raises(LittleGhost::ConfigurationError) { bad.runtime }
    refute_match(/sk-hidden/, error.message)
  end

  def test_siblings
    runtime = Configuration.new(providers: {a: {adapter: :openai, api_key: "k"}}).runtime
    sibling = runtime.build(service_name: "other")
    assert_equal ["other", "little-ghost"], [sibling.settings[:service_name], runtime.settings[:service_name]]
  end

  def test_the_invocation_class
    request = Class.new(LittleGhost::Invocation) { def tenant = fetch(:tenant) }
    runtime = Configuration.new(invocation: request, providers: {a: {adapter: :openai, api_key: "k"}}).runtime
    invocation = runtime.parse(message: "a", tenant: "t")
    assert_equal "t", invocation.tenant
    assert_same invocation, runtime.parse(invocation)
    assert_raises(LittleGhost::InvocationError) { runtime.parse(message: " ") }
    [String, "Invocation", nil].each { |value| assert_raises(ArgumentError) { Configuration.new(invocation: value) } }
  end

  def test_with_configuration
    scenario = script({chat: {text: "scoped"}}, cycle: true)
    configuration = configuration_for(scenario)
    default = LittleGhost.configuration
    response = LittleGhost.with_configuration(configuration) do
      assert_same configuration, LittleGhost.configuration
      assert_same configuration.runtime, LittleGhost.runtime
      assert_same configuration, Thread.new { LittleGhost.configuration }.value
      agent_class.ask("hi").response
    end
    assert_equal "scoped", response
    stream = LittleGhost.with_configuration(configuration) { agent_class.stream_ask("hi") }
    assert_equal "scoped", stream.each {}.response
    assert_same default, LittleGhost.configuration
    assert_raises(ArgumentError) { LittleGhost.with_configuration({}) {} }
    assert_raises(RuntimeError) { LittleGhost.with_configuration(configuration) { raise "x" } }
    assert_same default, LittleGhost.configuration
  end

  def test_what_cannot_be_a_setting_says_so
    assert_match(/Hash, got NilClass/, assert_raises(ArgumentError) { LittleGhost::Configuration.new(nil) }.message)
    assert_match(/prompt_paths takes paths/, assert_raises(ArgumentError) { LittleGhost::Configuration.new(prompt_paths: [5]) }.message)
    assert_equal ["one"], LittleGhost::Configuration.new(skill_paths: "one").skill_paths
  end
end
