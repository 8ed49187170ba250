# frozen_string_literal: true

require_relative "../test_helper"

class ContentTest < Minitest::Test
  Content = LittleGhost::Content

  BYTES = "\x00\xFFpng".b

  BLOCKS = {
    Content::Text.new(text: "hi") => {"type" => "text", "text" => "hi"},
    Content::Image.new(data: BYTES, media_type: "image/png") =>
      {"type" => "image", "data" => "AP9wbmc=", "encoding" => "base64", "media_type" => "image/png"},
    Content::Document.new(data: BYTES, media_type: "application/pdf", name: "a.pdf") =>
      {"type" => "document", "data" => "AP9wbmc=", "encoding" => "base64", "media_type" => "application/pdf", "name" => "a.pdf"},
    Content::ToolUse.new(id: "c1", name: "add", input: {a: 1}) =>
      {"type" => "tool_use", "id" => "c1", "name" => "add", "input" => {"a" => 1}},
    Content::ToolResult.new(tool_use_id: "c1", content: "3", status: :success) =>
      {"type" => "tool_result", "tool_use_id" => "c1", "content" => "3", "status" => "success"},
    Content::ToolResult.new(tool_use_id: "c1", content: [Content::Text.new(text: "x")], status: "error") =>
      {"type" => "tool_result", "tool_use_id" => "c1", "content" => [{"type" => "text", "text" => "x"}], "status" => "error"},
    Content::Reasoning.new(text: "so", signature: "sig", details: [{"a" => 1}]) =>
      {"type" => "reasoning", "text" => "so", "signature" => "sig", "details" => [{"a" => 1}]},
    Content::Reasoning.new(redacted_content: BYTES) =>
      {"type" => "reasoning", "text" => "", "data" => "AP9wbmc=", "encoding" => "base64"}
  }.freeze

  def test_blocks_survive_serialization
    BLOCKS.each do |block, hash|
      assert_equal hash, Content.serialize(block)
      assert_equal block, Content.from_hash(hash)
      assert_equal block, Content.normalize(hash.transform_keys(&:to_sym))
      assert_same block, Content.normalize(block)
    end
  end

  def test_strings_and_raw_bytes
    assert_equal Content::Text.new(text: "Hello"), Content.normalize("Hello")
    image = Content.from_hash(type: :image, data: BYTES, media_type: "image/png")
    assert_equal BYTES, image.data
    assert_equal Encoding::BINARY, image.data.encoding
  end

  def test_refuses_bad_blocks_by_name
    {
      {type: "text"} => /text/,
      {type: "text", text: "a", extra: 1} => /text.*extra/,
      {type: "image", data: "!!", encoding: "base64", media_type: "image/png"} => /image.*base64/,
      {type: "document", data: "a", media_type: "text/plain"} => /document/,
      {type: "tool_use", id: "", name: "a", input: {}} => /tool_use.*id/,
      {type: "tool_result", tool_use_id: "a", content: "b", status: "maybe"} => /tool_result.*status/,
      {type: "reasoning", text: "a", data: "b"} => /reasoning.*redacted/,
      {type: "reasoning", details: [1]} => /reasoning.*details/,
      {type: "video"} => /video/,
      {} => /type/
    }.each do |hash, pattern|
      error = assert_raises(ArgumentError, hash.inspect) { Content.from_hash(hash) }
      assert_match pattern, error.message
    end
    assert_raises(ArgumentError) { Content.from_hash([]) }
    assert_raises(ArgumentError) { Content.normalize(3) }
    assert_raises(ArgumentError) { Content.serialize("text") }
  end

  def test_constructors_check_too
    assert_raises(ArgumentError) { Content::ToolUse.new(id: nil, name: "a", input: {}) }
    assert_raises(ArgumentError) { Content::ToolUse.new(id: "a", name: "", input: {}) }
    assert_raises(ArgumentError) { Content::ToolUse.new(id: "a", name: "b", input: []) }
    assert_raises(ArgumentError) { Content::ToolResult.new(tool_use_id: "a", content: "", status: :maybe) }
    assert_raises(ArgumentError) { Content::Reasoning.new(text: "a", redacted_content: "b") }
    assert_raises(ArgumentError) { Content::Image.new(data: nil, media_type: "image/png") }
    assert_raises(ArgumentError) { Content::Document.new(data: nil, media_type: "text/plain", name: "a") }
    assert_instance_of LittleGhost::DataMap, Content::ToolUse.new(id: 1, name: :b, input: {}).input
    assert_equal "1", Content::ToolUse.new(id: 1, name: :b, input: {}).id
  end

  def test_text_that_is_not_utf8_is_refused_clearly
    error = assert_raises(ArgumentError) { Content.from_hash(type: "text", text: "a\xFF") }
    assert_match(/UTF-8 at byte 1/, error.message)
    assert_equal "é", Content.from_hash(type: "text", text: "é".encode("UTF-16LE")).text.encode("UTF-8")
  end
end
