# frozen_string_literal: true

require_relative "../test_helper"

class DataMapTest < Minitest::Test
  DataMap = LittleGhost::DataMap

  def test_takes_string_and_symbol_keys
    map = DataMap.new(plan: {status: "active", list: [{a: 1}]})
    assert_equal "active", map.dig("plan", :status)
    assert_equal "active", map[:plan]["status"]
    assert_equal 1, map.dig(:plan, :list, 0, "a")
    assert_equal({"plan" => {"status" => "active", "list" => [{"a" => 1}]}}, map.to_h)
    assert_instance_of Hash, map.to_h["plan"]
    assert map.key?(:plan) && map.include?("plan") && map.member?(:plan) && map.has_key?("plan")
    assert_nil map[:missing]
    assert_equal 7, map.fetch(:missing, 7)
    assert_equal "missing", map.fetch(:missing) { |key| key }
    assert_raises(KeyError) { map.fetch(:missing) }
  end

  def test_writes_are_normalized
    map = DataMap.new
    map[:a] = {b: 1}
    map.store("c", [{d: 2}])
    map.merge!(a: 2)
    assert_equal({"a" => 2, "c" => [{"d" => 2}]}, map)
    assert_equal 3, map.merge("a" => 1) { |_key, old, new| old + new }[:a]
    assert_equal 2, map.delete(:a)
    map.replace(x: {y: 1})
    assert_instance_of DataMap, map[:x]
  end

  def test_copies_are_independent
    map = DataMap.new(list: [1], nested: {a: [2]})
    copy = map.dup
    copy[:nested][:a] << 3
    copy[:list] << 4
    assert_equal({"list" => [1], "nested" => {"a" => [2]}}, map)
    refute_predicate map.freeze.dup, :frozen?
  end

  def test_refuses_what_is_not_json
    cycle = {}
    cycle[:self] = cycle
    list = []
    list << list
    [
      {a: :symbol}, {a: Time.now}, {a: Float::NAN}, {a: Float::INFINITY}, {1 => 2}, {:a => 1, "a" => 2},
      {n: {:a => 1, "a" => 2}}, cycle, {list: list}, "text", nil
    ].each { |value| assert_raises(ArgumentError, value.class.name) { DataMap.new(value) } }
  end

  def test_the_same_value_twice_is_no_cycle
    shared = {a: 1}
    assert_equal({"x" => {"a" => 1}, "y" => {"a" => 1}}, DataMap.new(x: shared, y: shared))
  end

  def test_coerce_keeps_a_data_map
    map = DataMap.new
    assert_same map, DataMap.coerce(map)
    assert_instance_of DataMap, DataMap.coerce({a: 1})
  end
end
