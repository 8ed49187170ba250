# frozen_string_literal: true

require_relative "../../test_helper"
require "json"

class ContentCaptureTest < Minitest::Test
  def policy(**options)
    LittleGhost::Support::ContentCapture.new(enabled: true, **options)
  end

  def test_captures_nothing_unless_enabled
    assert_equal({}, LittleGhost::Support::ContentCapture.disabled.capture({input: "hello"}))
    assert_equal({}, LittleGhost::Support::ContentCapture.new.capture({input: "hello"}))
    assert_equal({}, LittleGhost::Support::ContentCapture.new(enabled: "yes").capture({input: "hello"}))
  end

  def test_captures_the_known_kinds_as_json
    captured = policy.capture({input: "hello", output: [:a, 1.5], "exception" => nil, tool_definitions: {}, other: 1})
    assert_equal({diagnostic_input: '"hello"', diagnostic_output: '["a",1.5]', diagnostic_tool_definitions: "{}"}, captured)
  end

  def test_redacts_around_the_scrubber
    seen = nil
    scrubber = lambda do |value|
      seen = value
      {"text" => "a-known-secret again"}
    end
    captured = policy(redactions: ["a-known-secret"], scrubber: scrubber).capture({input: {text: "a-known-secret", password: 1}})
    assert_equal({"text" => "[REDACTED]", "password" => "[REDACTED]"}, seen)
    assert_equal '{"text":"[REDACTED] again"}', captured[:diagnostic_input]
  end

  def test_a_scrubber_may_ask_for_the_kind
    captured = policy(scrubber: ->(kind, _value) { kind }).capture({output: 1})
    assert_equal '"output"', captured[:diagnostic_output]
  end

  def test_describes_exceptions_and_attachments
    error = raise_and_rescue
    captured = policy.capture({exception: error, input: LittleGhost::Content::Image.new(data: "ABCD", media_type: "image/png")})
    exception = JSON.parse(captured[:diagnostic_exception])
    assert_equal ["RuntimeError", "broken [REDACTED]"], exception.values_at("type", "message").then { |type, text| [type, text.sub("Bearer ", "")] }
    assert_includes exception["stacktrace"], "raise_and_rescue"
    assert_equal({"type" => "image", "media_type" => "image/png", "bytes" => 4}, JSON.parse(captured[:diagnostic_input]))
  end

  def test_bounds_what_is_long
    captured = policy(max_bytes: 64).capture({input: "x" * 1_000, tool_definitions: ["x" * 1_000]})
    assert_operator captured[:diagnostic_input].bytesize, :<=, 64
    assert_equal true, JSON.parse(captured[:diagnostic_input])["truncated"]
    assert_equal '{"truncated":true}', captured[:diagnostic_tool_definitions]
    assert_raises(ArgumentError) { policy(max_bytes: 63) }
    assert_raises(ArgumentError) { policy(max_bytes: -1) }
  end

  def test_what_cannot_be_written_becomes_a_mark
    cycle = []
    cycle << cycle
    broken = ->(_value) { raise "scrubber failed" }
    assert_equal '"[unserializable]"', policy.capture({input: Object.new})[:diagnostic_input]
    assert_equal '"[unserializable]"', policy.capture({input: cycle})[:diagnostic_input]
    assert_equal '"[unserializable]"', policy(scrubber: broken).capture({input: 1})[:diagnostic_input]
  end

  private

  def raise_and_rescue
    raise "broken Bearer abc"
  rescue RuntimeError => error
    error
  end
end
