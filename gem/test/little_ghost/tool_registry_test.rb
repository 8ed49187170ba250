# frozen_string_literal: true

require_relative "../test_helper"

class ToolRegistryTest < Minitest::Test
  def setup
    @closed = closed = []
    @tool = ->(name, problem = nil) do
      LittleGhost::Tool.define(name: name, description: "Does #{name}.") {}.tap do |tool|
        tool.define_method(:close) do
          closed << name
          raise problem if problem
        end
      end
    end
  end

  def test_entries_of_every_form
    one, two, three = %w[one two three].map(&@tool)
    hidden = Class.new(one) { tool_name "hidden"; available_if { |binding| binding.run } }
    provider = Class.new
    provider.define_singleton_method(:tools) { |binding| [two, nil, [three.new(binding: binding)], hidden] }
    registry = LittleGhost::ToolRegistry.new([one, provider])
    assert_equal %w[one two three], registry.names
    assert_equal %w[one two three], registry.map(&:tool_name)
    assert_equal %w[one two three], registry.specifications.map { |spec| spec[:name] }
    assert_equal "two", registry.fetch("two").tool_name
    assert_raises(LittleGhost::ToolError) { registry.fetch("hidden") }
    assert_predicate registry.names, :frozen?
  end

  def test_closes_its_own_tools_once_in_reverse_order
    one, two, three = %w[one two three].map(&@tool)
    registry = LittleGhost::ToolRegistry.new([one, two.new, three])
    2.times { registry.close }
    assert_equal %w[three one], @closed
  end

  def test_tries_every_closer_and_prefers_cleanup_errors
    tools = [@tool.call("one", LittleGhost::CleanupError.new("stuck")), @tool.call("two", RuntimeError.new("first")), @tool.call("three")]
    assert_raises(LittleGhost::CleanupError) { LittleGhost::ToolRegistry.new(tools).close }
    assert_equal %w[three two one], @closed
  end

  def test_repeated_names
    registry = LittleGhost::ToolRegistry.new([@tool.call("same")])
    error = assert_raises(LittleGhost::ConfigurationError) { registry.register(@tool.call("same")) }
    assert_match(/same/, error.message)
    assert_equal ["same"], @closed
    assert_same registry, registry.register(@tool.call("same"), replace: true)
    assert_equal %w[same same], @closed
    assert_equal ["same"], registry.names
  end

  def test_refuses_other_things
    error = assert_raises(LittleGhost::ConfigurationError) { LittleGhost::ToolRegistry.new([Object]) }
    assert_match(/Object/, error.message)
    error = assert_raises(LittleGhost::ConfigurationError) { LittleGhost::ToolRegistry.new([LittleGhost::Agent]) }
    assert_match(/LittleGhost::Agent is neither/, error.message)
  end
end
