# frozen_string_literal: true

require_relative "../../test_helper"

class InterruptibleStreamTest < Minitest::Test
  include ScriptedRuns

  def stream(deadline: nil, **options, &producer)
    LittleGhost::Support::InterruptibleStream.new(cancellation_token: token, deadline: deadline, **options, &producer)
  end

  def token = @token ||= LittleGhost::Support::CancellationToken.new

  def test_values_in_order
    started = false
    subject = stream(buffer_size: 1) { |emit| started = true; [1, nil, false, 2].each { |value| emit.call(value) } }
    refute started
    assert_equal [1, nil, false, 2], subject.to_a
    assert_equal [1, nil], subject.each.take(2)
    assert_raises(ArgumentError) { stream }
    assert_raises(ArgumentError) { stream(buffer_size: 0) {} }
  end

  def test_exceptions_of_the_producer
    problem = KeyError.new("mine")
    seen = []
    raised = assert_raises(KeyError) { stream { |emit| emit.call(1); raise problem }.each { |value| seen << value } }
    assert_same problem, raised
    assert_equal [1], seen
  end

  def test_cancelling_stops_a_producer_that_waits
    ended = Thread::Queue.new
    waits = stream { |emit| emit.call(1); Thread::Queue.new.pop } # never gets anything
    assert_quick(1) { assert_raises(LittleGhost::CancelledError) { waits.each { token.cancel } } }
    assert_raises(LittleGhost::CancelledError) { stream { ended << 1 }.to_a }
    assert_predicate ended, :empty?
  end

  def test_deadlines
    assert_quick(1) do
      assert_raises(LittleGhost::DeadlineExceededError) { stream(deadline: Time.now + 0.05) { Thread::Queue.new.pop }.to_a }
    end
    assert_raises(LittleGhost::DeadlineExceededError) { stream(deadline: Time.now - 1) { flunk }.to_a }
  end

  def test_leaving_early_ends_the_producer
    ended = Thread::Queue.new
    stream(buffer_size: 1) do |emit|
      loop { emit.call(1) }
    ensure
      ended << true
    end.each { break }
    assert ended.pop(timeout: 1)
    refute_predicate token, :cancelled?
  end

  def test_a_producer_that_does_not_stop
    release = Thread::Queue.new
    stubborn = stream do |emit|
      emit.call(1)
      Thread.handle_interrupt(Object => :never) { release.pop }
    end
    assert_raises(LittleGhost::Support::InterruptibleStream::CleanupError) { stubborn.each { break } }
  ensure
    release << :go
  end
end
