# frozen_string_literal: true

module LittleGhost
  module Instrumentation
    # Who is told, in order. One that fails is reported once and told further on.
    class Subscribers # :nodoc:
      CALLBACKS = %i[start finish emit trace_context flush shutdown].freeze
      EVENT = "little_ghost.instrumentation.listener_failed"
      private_constant :CALLBACKS, :EVENT

      def initialize(subscribers)
        @lock = Mutex.new
        @subscribers = [].freeze
        @reported = {}
        @scope_key = :"little_ghost_instrumentation_scope_#{object_id}"
        subscribers.each { |subscriber| add(subscriber, false) }
      end

      def add(subscriber, prepend)
        check(subscriber)
        @lock.synchronize do
          next if @subscribers.any? { |known| known.equal?(subscriber) }

          @subscribers = (prepend ? [subscriber, *@subscribers] : [*@subscribers, subscriber]).freeze
        end
        subscriber
      end

      def delete(subscriber)
        @lock.synchronize { @subscribers = @subscribers.reject { |known| known.equal?(subscriber) }.freeze }
      end

      # Tells +subscriber+ too, for this execution while the block runs.
      def with(subscriber, prepend, &block)
        check(subscriber)
        before, after = scope
        scope = prepend ? [[subscriber, *before], after] : [before, [*after, subscriber]]
        ExecutionState.with({@scope_key => scope.freeze}, &block)
      end

      def any?
        !all.empty?
      end

      # Each one's answer to the block, or nil for one that failed.
      def map(component)
        all.map do |subscriber|
          yield subscriber
        rescue StandardError, ScriptError => error
          report(component, subscriber, error)
          nil
        end
      end

      private

      def check(subscriber)
        return if CALLBACKS.any? { |name| subscriber.respond_to?(name) }

        given = subscriber.is_a?(Module) ? "the class #{subscriber}; pass an instance" : subscriber.class
        raise ArgumentError, "a subscriber has any of #{CALLBACKS.join(", ")}, got #{given}"
      end

      def scope
        ExecutionState[@scope_key] || [[], []]
      end

      def all
        before, after = scope
        (before + @subscribers + after).uniq(&:object_id)
      end

      def report(component, subscriber, error)
        key = [component, subscriber.class]
        first = @lock.synchronize { !@reported.key?(key) && (@reported[key] = true) }
        return unless first

        Events.warn(EVENT, component: "#{subscriber.class.name || "anonymous"}##{component}", error_type: error.class.name.to_s)
      end
    end
  end
end
