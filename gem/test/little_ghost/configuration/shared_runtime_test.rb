# frozen_string_literal: true

require_relative "../../test_helper"

class ConfigurationSharedRuntimeTest < Minitest::Test
  # A Configuration whose build waits in a hook's constructor until it is let go.
  def slow
    entered = Thread::Queue.new
    go_on = Thread::Queue.new
    hook = Class.new(LittleGhost::Runtime::Hook) do
      define_method(:initialize) do
        super()
        entered << true
        raise "stopped" if go_on.pop == :fail
      end
    end
    configuration = LittleGhost::Configuration.new(providers: {a: {adapter: :openai, api_key: "k"}}, runtime_hooks: [hook])
    [configuration, entered, go_on]
  end

  def test_callers_share_one_build
    configuration, entered, go_on = slow
    threads = Array.new(3) { Thread.new { configuration.runtime } }
    entered.pop
    go_on << :build
    assert_equal 1, threads.map(&:value).uniq.length
    assert_predicate entered, :empty?
  end

  def test_nobody_reads_or_writes_meanwhile
    configuration, entered, go_on = slow
    builder = Thread.new { configuration.runtime }
    entered.pop
    assert_match(/being built/, assert_raises(LittleGhost::ConfigurationError) { configuration.service_name }.message)
    assert_match(/being built/, assert_raises(LittleGhost::ConfigurationError) { configuration.service_name = "x" }.message)
    go_on << :build
    builder.value
    assert_equal "little-ghost", configuration.service_name
    assert_raises(FrozenError) { configuration.prompt_paths << "late" }
  end

  def test_a_failed_build_lets_the_next_one_try
    configuration, entered, go_on = slow
    first = Thread.new { configuration.runtime }
    first.report_on_exception = false
    entered.pop
    second = Thread.new { configuration.runtime }
    go_on << :fail
    assert_raises(RuntimeError) { first.value }
    entered.pop
    go_on << :build
    assert_same second.value, configuration.runtime
  end
end
