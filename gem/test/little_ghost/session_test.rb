# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/recording_store"

class SessionTest < Minitest::Test
  Store = RecordingStore

  def say(text, role: :user, **metadata)
    LittleGhost::Message.new(role: role, content: text, metadata: metadata)
  end

  def session(store = Store.new, **options)
    LittleGhost::Session.new(id: "conversation-42", actor_id: "user-7", store: store, **options)
  end

  def test_a_conversation_continues
    store = LittleGhost::SessionStores::Memory.new
    session(store).append(messages: [say("Hello")], state: {language: "en"})
    reopened = session(store)
    assert_equal "Hello", reopened.history.last.text
    assert_equal "en", reopened.state[:language]
    assert_equal({"language" => "en"}, reopened.state.to_h)
    assert_equal %i[messages state metadata], reopened.load.keys
    assert_equal ["conversation-42", "user-7", store, nil], [reopened.id, reopened.actor_id, reopened.store, reopened.operation_id]
  end

  def test_nothing_is_read_before_it_is_needed_and_then_once
    store = Store.new
    opened = session(store, metadata: {kind: "support"})
    assert_empty store.calls
    fallback = [say("before")]
    assert_same fallback, opened.history(fallback: fallback)
    assert_equal [nil, {}, {"kind" => "support"}], [opened.load, opened.state.to_h, opened.metadata.to_h]
    assert_predicate opened.metadata, :frozen?
    assert_equal [[:load, "conversation-42", "user-7"]], store.calls
  end

  def test_only_the_conversation_is_kept
    store = Store.new
    reasoning = LittleGhost::Content::Reasoning.new(text: "private")
    answer = LittleGhost::Message.new(role: :assistant, content: [reasoning, LittleGhost::Content::Text.new(text: "Hi")])
    session(store).append(messages: [
      say("Be brief.", role: :system), say("Hello"), say("for now", transient: true),
      answer, LittleGhost::Message.new(role: :assistant, content: [reasoning])
    ])
    kept = session(store).history
    assert_equal %w[Hello Hi], kept.map(&:text)
    assert_equal [1, 1], kept.map { |found| found.content.length }
  end

  def test_a_checkpoint_writes_what_changed
    store = Store.new
    opened = session(store, operation_id: "run")
    one, two = say("one"), say("two")
    opened.checkpoint(messages: [one], state: {n: 1})
    opened.checkpoint(messages: [one], state: {"n" => 1})
    opened.checkpoint(messages: [one, two], parent_operation_id: "agent")
    opened.checkpoint(messages: [one, two], state: {n: 2}, metadata: {m: 1})
    opened.checkpoint(messages: [two])
    assert_equal [
      [:operation, "run"], [:load, "conversation-42", "user-7"],
      [:operation, "run"], [:append, ["one"], {"n" => 1}, {}, 0],
      [:operation, "agent"], [:append, ["two"], {"n" => 1}, {}, 1],
      [:operation, "run"], [:append, [], {"n" => 2}, {"m" => 1}, 2],
      [:operation, "run"], [:replace, ["two"], {"n" => 2}, {"m" => 1}]
    ], store.calls
    assert_equal [["two"], {"n" => 2}], [opened.history.map(&:text), opened.state.to_h]
  end

  def test_a_failed_write_changes_nothing
    store = Store.new
    slow, fast = session(store), session(store)
    slow.load
    fast.append(messages: [say("first")])
    assert_raises(LittleGhost::ProtocolError) { slow.append(messages: [say("second")]) }
    assert_empty slow.history
    assert_equal ["first"], session(store).history.map(&:text)
  end

  def test_what_is_no_plain_data_is_refused_before_the_store_is_asked
    store = Store.new
    [{at: Time.now}, {kind: :symbol}, {n: Float::NAN}].each do |state|
      assert_raises(LittleGhost::ProtocolError) { session(store).append(messages: [], state: state) }
    end
    assert(store.calls.all? { |call| call.first == :load })
    assert_raises(LittleGhost::ProtocolError) do
      session(LittleGhost::SessionStores::Memory.new).replace(messages: [say("a")], state: {n: 2**80})
    end
    store.snapshots[["user-7", "conversation-42"]] = {messages: [{"role" => "robot"}]}
    assert_raises(LittleGhost::ProtocolError) { session(store).load }
  end

  def test_snapshots_of_a_store_may_be_plain_data
    store = Store.new
    store.snapshots[["user-7", "conversation-42"]] = {
      "messages" => [{"role" => "user", "content" => "Hello"}], "state" => {"n" => {"deep" => [1]}}
    }
    opened = session(store)
    assert_equal ["Hello", [1], {}], [opened.history.first.text, opened.state.dig(:n, :deep), opened.metadata.to_h]
    opened.state[:n] = 2
    opened.load[:state]["n"] = 3
    assert_equal [1], opened.state.dig(:n, :deep)
  end

  def test_checkpoint_result
    store = Store.new
    result = LittleGhost::RunResult.new(
      message: say("b"), stop_reason: :end_turn, usage: LittleGhost::Usage.new,
      messages: [say("s", role: :system), say("a"), say("b")], state: LittleGhost::DataMap.new(n: 1)
    )
    session(store).checkpoint_result(result)
    assert_equal [[:append, %w[a b], {"n" => 1}, {}, 0]], store.calls.drop(1)
  end

  def test_projection_is_left_to_the_store
    assert_nil session(Store.new).project_conversation(messages: [say("a")])
    store = Class.new(Store) do
      def project_conversation(id, messages:, metadata:, actor_id: nil) = [id, messages.map(&:text), metadata, actor_id]
    end.new
    assert_equal ["conversation-42", ["s"], {"m" => 1}, "user-7"],
      session(store).project_conversation(messages: [say("s", role: :system)], metadata: {m: 1})
  end

  def test_unusable_arguments
    assert_raises(ArgumentError) { LittleGhost::Session.new(id: "", store: Store.new) }
    assert_raises(ArgumentError) { LittleGhost::Session.new(id: "a", store: Object.new) }
    refute_includes session.inspect, "user-7"
  end

  def test_an_abstract_store_says_what_is_missing
    opened = session(LittleGhost::SessionStore.new)
    assert_raises(LittleGhost::AbstractMethodError) { opened.load }
    assert_raises(LittleGhost::AbstractMethodError) { opened.replace(messages: [], state: {}, metadata: {}) }
  end
end
