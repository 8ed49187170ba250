# frozen_string_literal: true

require_relative "../../test_helper"

class ClassAttributesTest < Minitest::Test
  def test_inherits_until_assigned
    base = Class.new { extend LittleGhost::Support::ClassAttributes }
    base.class_attribute :color, :size, default: :none
    child = Class.new(base)
    assert_equal :none, child.color
    base.color = :red
    assert_equal [:red, :none], [child.color, child.size]
    child.color = nil
    assert_equal [nil, :red], [child.color, base.color]
  end
end
