# frozen_string_literal: true

require_relative "../test_helper"

class PathSetTest < Minitest::Test
  def test_order_and_immutability
    root = LittleGhost::Lookup::Root.new(path: "b", boundary: ".")
    set = LittleGhost::PathSet.new(["a", root])
    more = set + ["/c"]
    assert_equal [File.expand_path("a"), File.expand_path("b")], set.map(&:path)
    assert_equal [nil, Dir.pwd, nil], more.map(&:boundary)
    assert_predicate set.paths, :frozen?
    set.to_a << :more
    assert_equal 2, set.count
    assert_same root, set.paths.last
    assert_equal 3, (set + LittleGhost::PathSet.new(["c"])).each.to_a.length
  end
end
