# frozen_string_literal: true

require_relative "../test_helper"

class InvocationTest < Minitest::Test
  Invocation = LittleGhost::Invocation

  def test_fields_by_any_key
    invocation = Invocation.new(message: "Why?", account_id: "a-1", "metadata" => {channel: "support"}, context: {plan: {tier: 1}})
    assert_equal "Why?", invocation.message.text
    assert_equal "a-1", invocation[:account_id]
    assert_equal "a-1", invocation["account_id"]
    assert_equal "a-1", invocation.account_id
    assert_respond_to invocation, :account_id
    assert_equal "support", invocation.metadata["channel"]
    assert_equal 1, invocation.dig(:context, "plan", "tier")
    assert_equal 9, invocation.fetch(:missing, 9)
    assert invocation.key?(:account_id)
    invocation.locale = "de"
    assert_equal "de", invocation[:locale]
    assert_raises(NoMethodError) { invocation.unknown }
    assert_raises(KeyError) { invocation.fetch(:unknown) }
  end

  def test_identifiers
    invocation = Invocation.new(message: "a")
    assert_match(/\A\h{8}-\h{4}-4\h{3}-[89ab]\h{3}-\h{12}\z/, invocation.run_id)
    assert_equal [invocation.run_id] * 2, [invocation.invocation_id, invocation.session_id]
    assert_nil invocation.actor_id
    assert_equal %w[r s r], Invocation.new(message: "a", run_id: "r", session_id: "s").then { |i| [i.run_id, i.session_id, i.invocation_id] }
  end

  def test_copies_what_it_is_given
    context = {list: [1], text: +"a"}
    invocation = Invocation.new(message: "a", context: context)
    context[:list] << 2
    context[:text] << "b"
    assert_equal({"list" => [1], "text" => "a"}, invocation.context)
    invocation.to_h["context"]["list"] << 3
    assert_equal [1], invocation.context["list"]
  end

  def test_refuses_unusable_requests
    [nil, "", {}, [], "  \n"].each do |message|
      error = assert_raises(LittleGhost::InvocationError, message.inspect) { Invocation.new(message: message) }
      assert_match(/blank/, error.message)
    end
    assert_raises(LittleGhost::InvocationError) { Invocation.new({}) }
    assert_raises(LittleGhost::InvocationError) { Invocation.new("text") }
    assert_raises(LittleGhost::InvocationError) { Invocation.new(message: {role: "robot", content: "a"}) }
    assert_raises(LittleGhost::InvocationError) { Invocation.new(1 => 2, :message => "a") }
    ["text", [nil], [{role: "robot", content: "a"}], [{role: :user, content: {type: :text, text: 1}}]].each do |history|
      error = assert_raises(LittleGhost::InvocationError, history.inspect) { Invocation.new(message: "a", history: history) }
      assert_match(/history/, error.message)
    end
    mixed = [{role: "user", content: "a"}, nil]
    error = assert_raises(LittleGhost::InvocationError) { Invocation.new(message: "a", history: mixed) }
    assert_match(/\Ahistory\[1\]: message: expected a Message or a Hash, got NilClass/, error.message)
    cycle = {}
    cycle[:list] = [cycle]
    error = assert_raises(LittleGhost::InvocationError) { Invocation.new(message: "a", context: cycle) }
    assert_match(/contain itself/, error.message)
  end

  def test_message_forms
    block = LittleGhost::Content::Text.new(text: "b")
    assert_equal "b", Invocation.new(message: block).message.text
    assert_equal "ab", Invocation.new(message: ["a", block]).message.text
    assert_equal :user, Invocation.new(message: {role: "user", content: "c"}).message.role
    history = Invocation.new(message: "a", history: [{role: :user, content: "before"}]).history
    assert_predicate history, :frozen?
    assert_equal "before", history.first.text
    single = Invocation.new(message: "a", history: {role: :user, content: "before"}).history
    assert_equal ["before"], single.map(&:text)
  end

  def test_deadline
    time = Time.at(1_900_000_000)
    assert_equal time, Invocation.new(message: "a", deadline_at: time).deadline_at
    assert_equal time, Invocation.new(message: "a", deadline_at: time.utc.strftime("%FT%TZ")).deadline_at
    assert_nil Invocation.new(message: "a").deadline_at
    invocation = nil
    ["soon", "", :soon, Float::INFINITY, Float::NAN, Complex(1, 1), false].each do |value|
      invocation = Invocation.new(message: "a", deadline_at: value)
      assert_raises(LittleGhost::InvocationError, value.inspect) { invocation.deadline_at }
    end
    invocation.deadline_at = time
    assert_equal time, invocation.deadline_at
  end

  def test_inspect_shows_no_content
    refute_match(/secret/, Invocation.new(message: "secret", token: "secret").inspect)
  end
end
