# frozen_string_literal: true

require_relative "../../test_helper"
require "tmpdir"

class ConfigurationFilesTest < Minitest::Test
  ConfigurationError = LittleGhost::ConfigurationError

  # Yields a Configuration of an application with these files.
  def application(files, **settings)
    Dir.mktmpdir do |root|
      files.each_pair do |name, text|
        path = File.join(root, name)
        FileUtils.mkdir_p(File.dirname(path))
        File.write(path, text)
      end
      yield LittleGhost::Configuration.new({root: root}.merge(settings)), root
    end
  end

  PROVIDERS = "config/little_ghost/providers.yml"
  MODELS = "config/little_ghost/models.yml"
  LOCAL = "providers:\n  local:\n    adapter: openai_compatible\n    base_url: http://127.0.0.1:1/v1\n    api_key: <%= %w[k e y].join %>\n"

  def test_conventional_yaml_with_erb
    models = "default_model: small\nmodels:\n  small: &base\n    target: local:tiny\n  large:\n    <<: *base\n    settings: {temperature: 0}\n"
    application({PROVIDERS => LOCAL, MODELS => models}) do |configuration|
      settings = configuration.runtime.settings
      assert_equal "key", settings[:providers]["local"]["api_key"]
      assert_equal ["small", "local:tiny"], [settings[:default_model], settings[:models]["large"]["target"]]
    end
  end

  def test_ruby_wins_over_files_and_explicit_files_over_conventional_ones
    other = LOCAL.sub("local", "other")
    application({PROVIDERS => LOCAL, "elsewhere.yml" => other}, providers_path: "elsewhere.yml") do |configuration|
      assert_equal ["other"], configuration.runtime.settings[:providers].keys
    end
    application({PROVIDERS => LOCAL, MODELS => "models:\n  a: {target: local:b}\n"},
      providers: {mine: {adapter: :openai, api_key: "k"}}, default_model: :a) do |configuration|
      settings = configuration.runtime.settings
      assert_equal [[:mine], ["a"], "a"], [settings[:providers].keys, settings[:models].keys, settings[:default_model]]
    end
  end

  def test_a_missing_explicit_file
    application({}, models_path: "none.yml") do |configuration|
      assert_match(/none\.yml/, assert_raises(ConfigurationError) { configuration.runtime }.message)
    end
  end

  def test_mistakes_in_files_name_the_file_and_no_content
    {
      "providers: [\n  sk-hidden" => /YAML.*line/, "a: 1" => /providers/, "providers: 7" => /providers/, "- 1" => /mapping/,
      "<%= unknown_thing %>" => /unknown_thing/, "providers: !ruby/object:Object {}" => /YAML/
    }.each_pair do |text, pattern|
      application({PROVIDERS => text}) do |configuration|
        message = assert_raises(ConfigurationError, text) { configuration.runtime }.message
        assert_match(/providers\.yml/, message)
        assert_match(pattern, message)
        refute_match(/sk-hidden/, message)
      end
    end
    application({PROVIDERS => "providers:\n  a: {key: <%= ENV.fetch('LITTLE_GHOST_NO_SUCH_NAME') %>}\n"}) do |configuration|
      assert_raises(KeyError) { configuration.runtime }
    end
  end

  def test_the_ruby_file_configures_once
    text = <<~RUBY
      $configuration_loads = $configuration_loads.to_i + 1
      LittleGhost.configure { |config| config.service_name "from the file"; config.providers = {a: {adapter: :openai, api_key: "k"}} }
    RUBY
    $configuration_loads = 0
    application({"config/little_ghost.rb" => text}) do |configuration|
      listener = Object.new
      listener.define_singleton_method(:emit) { |event| $configuration_service = event[:payload][:service_name] }
      explicit = LittleGhost::Events.subscribed(listener) { LittleGhost::Runtime.new(configuration: configuration) }
      assert_equal "from the file", $configuration_service
      assert_equal "from the file", explicit.settings[:service_name]
      configuration.service_name = "later"
      assert_equal "later", configuration.runtime.settings[:service_name]
      assert_equal 1, $configuration_loads
      refute_equal "from the file", LittleGhost.configuration.service_name
    end
  ensure
    $configuration_loads = $configuration_service = nil
  end

  def test_a_second_root
    application({}) do |configuration, root|
      LittleGhost::Runtime.new(configuration: configuration)
      Dir.mkdir(other = File.join(root, "other"))
      configuration.root = other
      assert_match(/another/, assert_raises(ConfigurationError) { LittleGhost::Runtime.new(configuration: configuration) }.message)
    end
  end

  def test_a_file_that_wants_the_runtime
    application({"config/little_ghost.rb" => "LittleGhost.runtime"}) do |configuration|
      assert_match(/being built/, assert_raises(ConfigurationError) { configuration.runtime }.message)
      configuration.service_name = "still open"
    end
    application({"config/little_ghost.rb" => "LittleGhost::Runtime.new(configuration: LittleGhost.configuration)"}) do |configuration|
      assert_raises(ConfigurationError) { LittleGhost::Runtime.new(configuration: configuration) }
    end
  end
end
