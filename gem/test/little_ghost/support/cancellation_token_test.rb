# frozen_string_literal: true

require_relative "../../test_helper"

class CancellationTokenTest < Minitest::Test
  Token = LittleGhost::Support::CancellationToken

  def test_flows_down_only
    parent = Token.new
    child = parent.child
    other = Token.new(parent: parent)
    assert_same child, child.cancel
    assert_equal [true, false, false], [child.cancelled?, parent.cancelled?, other.cancelled?]
    2.times { parent.cancel }
    assert_predicate other, :cancelled?
    assert_predicate parent.child, :cancelled?
    assert_raises(LittleGhost::CancelledError) { other.raise_if_cancelled! }
    assert_nil Token.new.raise_if_cancelled!
  end

  def test_wait
    token = Token.new
    refute token.wait(0)
    waiter = Thread.new { token.child.wait(10) }
    Thread.pass until waiter.stop?
    token.cancel
    assert waiter.value
    assert token.wait(nil)
  end

  def test_wait_lets_other_fibers_run
    require "async"
    token = Token.new
    order = []
    Async do |task|
      task.async { order << token.wait(10) }
      task.async do
        order << :other
        token.cancel
      end
    end
    assert_equal [:other, true], order
  end

  def test_many_waits_leave_no_descriptor
    before = Dir.children("/proc/self/fd").length
    token = Token.new
    200.times { token.wait(0) }
    assert_operator Dir.children("/proc/self/fd").length, :<=, before + 2
  end
end
