# frozen_string_literal: true

require_relative "../../test_helper"

class ContextManagementTest < Minitest::Test
  DEFAULTS = {
    context_window_tokens: 200_000, compression_threshold: 0.85, summary_ratio: 0.3, preserve_recent_messages: 10
  }.freeze

  def test_it_is_declared_with_defaults_and_inherited
    plain = Class.new(LittleGhost::Agent)
    assert_nil plain.context_management
    managed = Class.new(plain) { manage_context }
    assert_equal DEFAULTS, managed.context_management
    child = Class.new(managed)
    assert_equal DEFAULTS, child.context_management
    child.manage_context(preserve_recent_messages: 12)
    assert_equal [10, 12], [managed, child].map { |agent| agent.context_management[:preserve_recent_messages] }
  end

  def test_numbers_out_of_range_are_refused
    {
      context_window_tokens: 0, compression_threshold: 0, summary_ratio: 0.05, preserve_recent_messages: 1
    }.each do |name, value|
      error = assert_raises(ArgumentError) { Class.new(LittleGhost::Agent) { manage_context(**{name => value}) } }
      assert_match name.name, error.message
    end
  end
end
