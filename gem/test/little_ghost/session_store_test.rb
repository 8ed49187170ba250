# frozen_string_literal: true

require "tmpdir"
require_relative "../test_helper"

# What every store does for those who work on one conversation at a time.
class SessionStoreTest < Minitest::Test
  STORES = {
    "of an application" => ->(_) { LittleGhost::SessionStore.new },
    "in memory" => ->(_) { LittleGhost::SessionStores::Memory.new },
    "in files" => ->(folder) { LittleGhost::SessionStores::Filesystem.new(root: File.join(folder, "sessions")) }
  }.freeze

  def each_store
    STORES.each_value { |make| Dir.mktmpdir { |folder| yield make.call(folder) } }
  end

  def test_threads_take_turns
    each_store do |store|
      inside = 0
      most = 0
      8.times.map do
        Thread.new do
          5.times do
            store.synchronize("a", actor_id: "u") do
              inside += 1
              most = [most, inside].max
              Thread.pass
              inside -= 1
            end
          end
        end
      end.each(&:join)
      assert_equal [0, 1], [inside, most]
    end
  end

  def test_others_do_not_wait
    each_store do |store|
      value = store.synchronize("a", actor_id: "u") do
        store.synchronize("b", actor_id: "u") { store.synchronize("a") { :through } }
      end
      assert_equal :through, value
    end
  end

  def test_a_waiter_can_be_interrupted_and_the_next_one_comes_in
    each_store do |store|
      entered, leave = Queue.new, Queue.new
      holder = Thread.new { store.synchronize("a") { entered << true and leave.pop } }
      entered.pop
      assert_raises(Timeout::Error) { Timeout.timeout(0.05) { store.synchronize("a") { flunk } } }
      killed = Thread.new { store.synchronize("a") { flunk } }
      Thread.pass until killed.stop?
      killed.kill.join
      leave << true
      holder.join
      assert_equal :free, store.synchronize("a") { :free }
    end
  end

  def test_an_exception_gives_the_conversation_free
    each_store do |store|
      assert_raises(KeyError) { store.synchronize("a") { raise KeyError } }
      assert_equal :free, store.synchronize("a") { :free }
      assert_equal :left, (store.synchronize("a") { break :left })
      assert_equal :free, store.synchronize("a") { :free }
    end
  end

  def test_not_reentrant
    store = LittleGhost::SessionStore.new
    error = assert_raises(LittleGhost::Error) { store.synchronize("a") { store.synchronize("a") { flunk } } }
    assert_includes error.message, "not re-entrant"
    assert_equal :free, store.synchronize("a") { :free }
    assert_raises(ThreadError) { store.synchronize("a") { raise ThreadError, "mine" } }
  end

  def test_nothing_stays_of_conversations_that_are_over
    store = LittleGhost::SessionStore.new
    100.times { |number| store.synchronize(number.to_s) { nil } }
    assert_empty store.send(:locks).instance_variable_get(:@entries)
  end
end
