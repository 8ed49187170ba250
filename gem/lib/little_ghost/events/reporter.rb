# frozen_string_literal: true

module LittleGhost
  module Events
    # Delivers events to listeners, in the order of their subscription. It may be used from many threads
    # and fibers at once.
    class Reporter
      Subscription = Struct.new(:listener, :filter)
      private_constant :Subscription

      # Starts with +listeners+.
      def initialize(listeners: [])
        @lock = Mutex.new
        @subscriptions = [].freeze
        @context_key = :"little_ghost_events_context_#{object_id}"
        @scope_key = :"little_ghost_events_scope_#{object_id}"
        listeners.each { |listener| subscribe(listener) }
      end

      # A copy of the attributes that events carry now.
      def context
        Payload.copy(attributes)
      end

      # Delivers an event and returns a copy of its Hash. +level+ is one of LEVELS; +payload+ a Hash of
      # JSON-safe values. Raises ArgumentError for anything else.
      def emit(level, name, payload = {})
        event = build(level, name, payload)
        (@subscriptions + scoped).each { |subscription| deliver(subscription, event) }
        copy(event)
      end

      # Adds +listener+, which has +emit(event)+, and returns it. The block gets a copy of each event and
      # says whether the listener gets it.
      def subscribe(listener, &filter)
        subscription = subscription(listener, filter)
        @lock.synchronize { @subscriptions = (@subscriptions + [subscription]).freeze }
        listener
      end

      # Adds +listener+ for this execution while the block runs.
      def subscribed(listener, &block) # :nodoc:
        ExecutionState.with({@scope_key => (scoped + [subscription(listener, nil)]).freeze}, &block)
      end

      # Removes +listener+ everywhere.
      def unsubscribe(listener)
        @lock.synchronize { @subscriptions = @subscriptions.reject { |known| known.listener.equal?(listener) }.freeze }
        nil
      end

      # Adds a copy of +attributes+ to what events carry while the block runs.
      def with_context(attributes, &block)
        ExecutionState.with({@context_key => self.attributes.merge(Payload.copy(attributes)).freeze}, &block)
      end

      protected

      def attributes
        ExecutionState[@context_key] || {}
      end

      private

      def scoped
        ExecutionState[@scope_key] || []
      end

      def subscription(listener, filter)
        return Subscription.new(listener, filter).freeze if listener.respond_to?(:emit)

        raise ArgumentError, "a listener has emit(event), #{listener.class} has not"
      end

      def build(level, name, payload)
        level = level.to_sym
        raise ArgumentError, "the level is one of #{LEVELS.join(", ")}, got #{level.inspect}" unless LEVELS.include?(level)
        raise ArgumentError, "the payload of an event is a Hash, got #{payload.class}" unless payload.is_a?(Hash)

        {
          name: name.to_s, level: level, payload: Payload.copy(payload), context: context,
          timestamp: Process.clock_gettime(Process::CLOCK_REALTIME, :nanosecond)
        }
      end

      # Each listener has a copy of its own.
      def deliver(subscription, event)
        return if subscription.filter && !subscription.filter.call(copy(event))

        subscription.listener.emit(copy(event))
      rescue StandardError, ScriptError
        # The work that the event is about goes on; there is nowhere else to tell.
        nil
      end

      def copy(event)
        event.merge(name: event[:name].dup, payload: Payload.copy(event[:payload]), context: Payload.copy(event[:context]))
      end
    end
  end
end
