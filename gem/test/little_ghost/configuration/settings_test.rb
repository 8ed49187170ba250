# frozen_string_literal: true

require_relative "../../test_helper"
require "pp"
require "tmpdir"

class ConfigurationSettingsTest < Minitest::Test
  Configuration = LittleGhost::Configuration

  def test_defaults
    fresh = Configuration.new
    assert_equal [["app/prompts"], ["app/skills"], nil, nil, nil],
      [fresh.prompt_paths, fresh.skill_paths, fresh.skill_resource_root, fresh.workspace, fresh.session_actor]
    assert_equal Pathname.new(Dir.pwd).realpath, fresh.root
    fresh.prompt_paths << "shared"
    assert_equal %w[app/prompts shared], fresh.prompt_paths
    assert_equal ["app/prompts"], Configuration.new.prompt_paths
  end

  def test_collections_are_copied
    paths = ["a"]
    configuration = Configuration.new(prompt_paths: paths)
    paths << "b"
    assert_equal ["a"], configuration.prompt_paths
    configuration.skill_paths = "one"
    assert_equal ["one"], configuration.skill_paths
  end

  def test_root
    Dir.mktmpdir do |folder|
      File.symlink(folder, link = File.join(folder, "link"))
      assert_equal File.realpath(folder), Configuration.new(root: link).root.to_s
      assert_equal File.realpath(folder), Configuration.new.root(folder).to_s
      File.write(file = File.join(folder, "file"), "")
      [file, "#{folder}/none", nil, 7].each do |root|
        assert_raises(LittleGhost::ConfigurationError) { Configuration.new.root = root }
      end
    end
  end

  def test_skill_resource_root
    configuration = Configuration.new
    ["/opt/skills", "workspace://skills", "workspace://skills/a/b", nil].each { |value| configuration.skill_resource_root = value }
    ["skills", "/opt/../etc", "workspace://", "workspace://a b", "workspace://a/../b"].each do |value|
      assert_raises(ArgumentError, value) { configuration.skill_resource_root = value }
    end
  end

  def test_callables_and_declarations
    configuration = Configuration.new
    actor = configuration.session_actor { |invocation| invocation.actor_id }
    assert_same actor, configuration.session_actor
    factory = configuration.provider_adapter("mine") { |**| }
    assert_same factory, configuration[:provider_adapters]["mine"]
    resolver = configuration.provider_credentials { |**| {} }
    assert_same resolver, configuration.provider_credentials
    source = Object.new
    assert_same source, configuration.catalog_source(source)
    hook = Class.new(LittleGhost::Runtime::Hook)
    assert_same hook, configuration.runtime_hook(hook)
    subscriber = LittleGhost::Instrumentation::Subscriber.new
    assert_same subscriber, configuration.instrument(subscriber)
    assert_equal [[source], [hook], [subscriber]],
      [configuration[:catalog_sources], configuration[:runtime_hooks], configuration[:instrumentation_subscribers]]
    [
      -> { configuration.session_actor = "id" }, -> { configuration.provider_adapter(:a) }, -> { configuration.runtime_hook(String) },
      -> { configuration.session_store = {provider: :memory} }, -> { configuration.session_store = Object }
    ].each { |write| assert_raises(ArgumentError, &write) }
  end

  def test_settings_of_the_process
    [0, -1, "2", nil, 1.5].each { |value| assert_raises(ArgumentError) { Configuration.new.blocking_pool_capacity = value } }
    assert_equal Configuration.new.blocking_pool_capacity, Configuration.new[:blocking_pool_capacity]
    assert_raises(ArgumentError) { Configuration.new.log_events_to = :syslog }
    assert_nil Configuration.new.log_events_to
  end

  def test_what_is_sealed_shows_no_values
    runtime = Configuration.new(providers: {a: {adapter: :openai, api_key: "sk-hidden"}}, tenant: {key: "sk-hidden"}).runtime
    shown = [runtime.settings, runtime.settings[:providers], runtime.settings[:tenant]].flat_map { |value| [value.inspect, value.to_s, value.pretty_inspect] }
    shown.each { |text| refute_match(/sk-hidden/, text) }
    assert_equal "sk-hidden", runtime.settings[:providers][:a][:api_key]
    assert_raises(FrozenError) { runtime.settings[:providers][:a][:api_key] << "x" }
  end

  def test_objects_stay_live
    counter = Struct.new(:count).new(0)
    keyed = {1 => "one"}
    settings = Configuration.new(counter: counter, keyed: keyed).runtime.settings
    assert_same counter, settings[:counter]
    assert_same keyed, settings[:keyed]
    refute_predicate keyed, :frozen?
  end
end
