# frozen_string_literal: true

require_relative "../test_helper"

class MessageTest < Minitest::Test
  Message = LittleGhost::Message
  Content = LittleGhost::Content

  def test_normalizes_content
    message = Message.new(role: "user", content: "Hello")
    assert_equal :user, message.role
    assert_equal [Content::Text.new(text: "Hello")], message.content
    assert_predicate message, :frozen?
    assert_predicate message.content, :frozen?
    assert_equal "Hello", message.text
    assert_equal [], Message.new(role: :assistant, content: nil).content
    assert_equal 1, Message.new(role: :user, content: {type: "text", text: "x"}).content.length
    assert_equal({"role" => "user", "content" => [{"type" => "text", "text" => "Hello"}], "metadata" => {}}, message.to_h)
    assert_equal message.to_h, JSON.parse(message.to_json)
  end

  def test_metadata_is_a_frozen_data_map
    message = Message.new(role: :user, content: "a", metadata: {key: 1})
    assert_equal 1, message.metadata["key"]
    assert_equal 1, message.metadata[:key]
    assert_predicate message.metadata, :frozen?
    assert_raises(FrozenError) { message.metadata[:other] = 2 }
    assert_raises(ArgumentError) { Message.new(role: :user, content: "a", metadata: {key: :symbol}) }
  end

  def test_coerce
    message = Message.new(role: :user, content: "a")
    assert_same message, Message.coerce(message)
    assert_equal message.to_h, Message.coerce("role" => "user", "content" => "a").to_h
    assert_raises(ArgumentError) { Message.coerce("content" => "a") }
    assert_raises(ArgumentError) { Message.coerce("a") }
    assert_raises(ArgumentError) { Message.new(role: :robot, content: "a") }
    assert_raises(ArgumentError) { Message.new(role: :user, content: 5) }
  end

  def test_a_key_of_another_format_is_refused
    error = assert_raises(ArgumentError) { LittleGhost::Message.coerce(role: "assistant", tool_calls: []) }
    assert_match(/unknown key "tool_calls"/, error.message)
  end

  def test_without_reasoning
    plain = Message.new(role: :assistant, content: "a")
    assert_same plain, plain.without_reasoning
    mixed = Message.new(role: :assistant, content: [Content::Reasoning.new(text: "so"), "a"])
    assert_equal "a", mixed.text
    assert_equal [Content::Text.new(text: "a")], mixed.without_reasoning.content
    assert_equal %i[system developer user assistant tool], Message::ROLES
  end
end
