# frozen_string_literal: true

require_relative "../../test_helper"

class ToolLoopTest < Minitest::Test
  def test_it_is_declared_with_defaults_and_inherited
    plain = Class.new(LittleGhost::Agent)
    assert_nil plain.tool_loop
    watched = Class.new(plain) { detect_tool_loops }
    assert_equal({warning_at: 3, terminate_at: 5, except: []}, Class.new(watched).tool_loop)
  end

  def test_exceptions_are_classes_instances_and_names
    lookup = LittleGhost::Tool.define(name: "lookup", description: "Looks up.") {}
    declare = ->(except) { Class.new(LittleGhost::Agent) { detect_tool_loops(except: except) }.tool_loop[:except] }
    assert_equal %w[lookup], declare.(lookup)
    assert_equal %w[poll wait lookup], declare.(["poll", :wait, lookup])
    assert_raises(ArgumentError) { declare.(3) }
  end

  def test_numbers_out_of_range_are_refused
    [{warning_at: 1}, {terminate_at: 3}, {warning_at: 5}].each do |options|
      assert_raises(ArgumentError) { Class.new(LittleGhost::Agent) { detect_tool_loops(**options) } }
    end
  end
end
