# frozen_string_literal: true

require "test_helper"

# What is wrong with a declaration of code mode is said to the developer, not to the model.
class CodeModeDeclarationTest < Minitest::Test
  include ScriptedRuns

  CodeMode = LittleGhost::CodeMode
  NAMES = /use source_bytes, output_bytes, .*cleanup_seconds/

  def refused(error, **options)
    assert_raises(error) { agent_class { code_mode(**options) } }.message
  end

  def test_limits_of_a_named_engine_are_checked_where_they_are_declared
    [:ruby, "python", CodeMode::RubyEngine, CodeMode::RubyEngine.new].each do |engine|
      told = refused(ArgumentError, engine: engine, limits: {wall_second: 5})
      assert_match(/no limit "wall_second".*#{NAMES}/, told)
    end
    assert_match(/"programs" for javascript programs; use output_bytes/, refused(ArgumentError, engine: :javascript, limits: {programs: 5}))
    assert_match(/wall_seconds must be a number above 0, not "soon"/, refused(ArgumentError, engine: :ruby, limits: {wall_seconds: "soon"}))
    assert_match(/programs must be a whole number above 0, not 0/, refused(ArgumentError, engine: :ruby, limits: {programs: 0}))
    assert_match(/limits must be a Hash/, refused(ArgumentError, limits: 5))
    # Those of an engine that is registered later are its own.
    agent_class { code_mode engine: :words, limits: {words: 1} }
    agent_class { code_mode engine: CodeMode::Engine.new, limits: {words: 1} }
  end

  def test_sandboxes_are_checked_where_they_are_declared
    assert_match(/no option "polcy"; use policy, limits, profiles/, refused(ArgumentError, sandbox: {provider: :native, polcy: {}}))
    assert_match(/"docs"/, refused(LittleGhost::PolicyError, sandbox: {files: {docs: :read_only}}))
    assert_match(/wide_open/, refused(LittleGhost::PolicyError, sandbox: {policy: {files: {root: :wide_open}}}))
    assert_match(/output_byte/, refused(ArgumentError, sandbox: {provider: :unrestricted, limits: {output_byte: 1}}))
  end

  def test_the_configuration_is_checked_when_it_is_set
    configuration = LittleGhost::Configuration.new
    told = assert_raises(LittleGhost::ConfigurationError) { configuration.code_mode = {surprise: 1} }.message
    assert_match(/no option :surprise; use engine, except, sandbox, limits/, told)
    assert_raises(LittleGhost::ConfigurationError) { configuration.code_mode = 3 }
    assert_raises(ArgumentError) { configuration.code_mode = {engine: :ruby, limits: {wall_second: 5}} }
    usable = {"engine" => :ruby, :sandbox => :native, :limits => {programs: 16, wall_seconds: 900}}
    configuration.code_mode = usable
    assert_equal usable, configuration.code_mode
    assert_nil configuration.code_mode(nil)
  end

  def test_what_depends_on_the_configuration_fails_the_run_before_the_model_is_asked
    {
      {limits: {wall_second: 5}} => [ArgumentError, NAMES],
      {engine: :cobol} => [LittleGhost::ConfigurationError, /:cobol; there are ruby, javascript, python/],
      {sandbox: :nativ} => [LittleGhost::DependencyError, /:nativ; there are bubblewrap, native/],
      {sandbox: {provider: :moon}} => [LittleGhost::DependencyError, /:moon/]
    }.each do |options, (error, told)|
      model = LittleGhost::Testing::ScriptedModel.new("unasked")
      run = agent_class { model(model) and code_mode(**options) }.ask("a")
      assert_equal ["failed", error], [run.outcome, run.error.class]
      assert_match told, run.error.message
      assert_empty model.requests
    end
  end

  def test_limits_go_with_the_engine_that_the_configuration_names
    runtime = LittleGhost::Runtime.new(configuration: LittleGhost::Configuration.new(code_mode: {engine: :javascript, sandbox: :unrestricted}))
    scripted = LittleGhost::Testing::ScriptedModel.new("fine", repeat: true)
    coder = agent_class { model(scripted) and code_mode(limits: {max_concurrency: 2}) }
    assert_equal "fine", coder.new(runtime: runtime).ask("a").response
    assert_instance_of ArgumentError, coder.ask("a").error
  end
end
