# frozen_string_literal: true

require_relative "../../test_helper"

class CallbacksTest < Minitest::Test
  Callbacks = LittleGhost::Support::Callbacks

  def setup
    @callbacks = Callbacks.new(:prepare, :finish)
    @order = []
  end

  def note(name, order = @order)
    ->(payload) { order << [name, payload] }
  end

  def test_replacing
    @callbacks.on(:prepare) { |payload| Callbacks.replace(payload + 1) }
    @callbacks.on(:prepare, note(:after))
    decision = @callbacks.run(:prepare, 1)
    assert_equal [true, 2, [[:after, 2]]], [decision.replace?, decision.value, @order]
    assert_predicate @callbacks.run(:finish, 1), :continue?
  end

  def test_cancelling_stops
    @callbacks.on(:prepare) { Callbacks.cancel("no") }
    @callbacks.on(:prepare, note(:never))
    decision = @callbacks.run(:prepare, nil)
    assert_equal [true, "no", false, []], [decision.cancel?, decision.reason, decision.continue?, @order]
  end

  def test_other_values_mean_to_continue
    @callbacks.on(:prepare) { false }.on(:prepare) { Callbacks.continue }
    assert_predicate @callbacks.run(:prepare, 1), :continue?
  end

  def test_what_a_callback_is_given
    given = []
    @callbacks.on(:prepare) { given << :none }
    @callbacks.on(:prepare, ->(context:) { given << context })
    @callbacks.on(:prepare, ->(payload, context: nil) { given << [payload, context] })
    @callbacks.on(:prepare, Class.new { define_method(:call) { |payload, **rest| given << [payload, rest] } }.new)
    @callbacks.run(:prepare, :p, context: :c)
    assert_equal [:none, :c, %i[p c], [:p, {context: :c}]], given
  end

  def test_receivers
    receiver = Class.new do
      attr_reader :seen

      def inspect_payload(payload) = @seen = payload
    end.new
    @callbacks.on(:prepare, :inspect_payload).on(:prepare) { |payload| Callbacks.replace([self, payload]) }
    assert_equal [receiver, 1], @callbacks.run(:prepare, 1, receiver: receiver).value
    assert_equal 1, receiver.seen
    assert_raises(ArgumentError) { @callbacks.run(:prepare, 1) }
    assert_raises(NameError) { Callbacks.new(:a).on(:a, :missing).run(:a, 1, receiver: receiver) }
  end

  def test_order_and_repetition
    first = note(:first)
    @callbacks.on(:prepare, note(:second)).on(:prepare, first, prepend: true).on(:prepare, first)
    other = Callbacks.new(:prepare, :more).on(:prepare, note(:last)).on(:prepare, note(:zeroth), prepend: true)
    @callbacks.merge(other).run(:prepare, 1)
    assert_equal %i[zeroth first second last], @order.map(&:first)
    @order.clear
    @callbacks.run(:prepare, 1)
    assert_equal %i[first second], @order.map(&:first)
  end

  def test_copies
    copy = @callbacks.dup
    copy.on(:prepare, note(:copy))
    @callbacks.run(:prepare, 1)
    assert_empty @order
  end

  def test_unknown_names_and_callables
    assert_raises(ArgumentError) { @callbacks.on(:never) {} }
    assert_raises(ArgumentError) { @callbacks.run(:never, 1) }
    assert_raises(ArgumentError) { @callbacks.on(:prepare, 7) }
    assert_raises(ArgumentError) { @callbacks.on(:prepare) }
  end
end
