# frozen_string_literal: true

require_relative "../../test_helper"

class RedactorTest < Minitest::Test
  def setup
    @redactor = LittleGhost::Support::Redactor.new(redactions: ["hunter2-hunter2", "short", nil])
  end

  def test_takes_secrets_out_of_nested_values
    value = {user: "Ann", "apiKey" => 12, list: ["Bearer abc.def", {accessToken: {a: 1}}], note: "hunter2-hunter2 short"}
    expected = {
      user: "Ann", "apiKey" => "[REDACTED]", list: ["Bearer [REDACTED]", {accessToken: "[REDACTED]"}],
      note: "[REDACTED] short"
    }
    assert_equal expected, @redactor.call(value)
    assert_equal "hunter2-hunter2 short", value[:note]
  end

  def test_keeps_other_objects_and_copies_containers
    object = Object.new
    frozen = {items: [object, 1, nil, :symbol].freeze}.freeze
    copy = @redactor.call(frozen)
    assert_equal frozen, copy
    refute_same frozen[:items], copy[:items]
  end

  def test_the_name_of_a_value_counts
    assert_equal "[REDACTED]", @redactor.call({"a" => 1}, key: :password)
    assert_equal({"a" => 1}, @redactor.call({"a" => 1}, key: :name))
  end

  def test_stringifies_keys_when_asked
    redactor = LittleGhost::Support::Redactor.new(stringify_keys: true)
    assert_equal({"a" => {"1" => "x"}}, redactor.call({a: {1 => "x"}}))
  end

  def test_repairs_text
    assert_equal "a\u{fffd}b", @redactor.scrub_string("a\xFFb")
    assert_equal "h\u{e9}", @redactor.scrub_string("h\xC3\xA9".b)
  end

  def test_knows_the_names_of_credentials
    assert(%w[Authorization api-key Set-Cookie privateKey].all? { |key| @redactor.sensitive_key?(key) })
    assert @redactor.sensitive_key?(:access_token)
    refute @redactor.sensitive_key?(:input_tokens)
  end

  def test_ends_in_a_cycle
    cycle = {name: "x"}
    cycle[:self] = cycle
    assert_equal({name: "x", self: "[CIRCULAR]"}, @redactor.call(cycle))
  end

  def test_does_not_show_its_secrets
    refute_includes @redactor.inspect, "hunter2"
  end
end
