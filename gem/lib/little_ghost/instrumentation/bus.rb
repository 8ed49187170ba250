# frozen_string_literal: true

module LittleGhost
  module Instrumentation
    # Notifies subscribers of operations and points in time. Instrumentation has the one of the process;
    # make your own for an isolated set-up. It may be used from many threads and fibers at once.
    class Bus
      # Starts with +subscribers+, in order, and a policy for content.
      def initialize(subscribers: [], content_capture: Support::ContentCapture.disabled)
        @subscribers = Subscribers.new(subscribers)
        @operations = Operations.new
        @content_capture = content_capture
        @context_key = :"little_ghost_instrumentation_context_#{object_id}"
        @current_key = :"little_ghost_instrumentation_current_#{object_id}"
      end

      # Whether +handle+ is active; without one, whether any operation is.
      def active?(handle = nil)
        @operations.active?(handle)
      end

      # Sets what content notifications may carry from now on.
      def capture_content(policy)
        raise ArgumentError, "expected a Support::ContentCapture, got #{policy.class}" unless policy.respond_to?(:capture)

        @content_capture = policy
      end

      # A copy of the attributes that notifications carry now.
      def context
        Support.deep_dup(attributes)
      end

      # This fiber's active operation that is not detached, or nil.
      def current
        handle = ExecutionState[@current_key]
        handle = handle.previous until handle.nil? || (handle.owner? && handle.active?)
        handle
      end

      # Ends +handle+ and returns its final attributes, with +duration_ms+. +diagnostic+ is content for the
      # policy: a Hash with any of +input+, +output+, +exception+ and +tool_definitions+. Raises Error for an
      # operation that is not the last of its fiber, and ArgumentError for one that is not active.
      def finish(handle, diagnostic: nil, **attributes)
        @operations.remove(handle, current)
        leave(handle) unless handle.detached?
        elapsed = (Process.clock_gettime(Process::CLOCK_MONOTONIC) - handle.started_at) * 1_000
        final = handle.payload.merge(attributes, captured(diagnostic), identifiers(handle), {duration_ms: elapsed.round(3)})
        notify(:finish, handle.name, final)
        final
      end

      # Has the subscribers flush in order, all of them within +timeout+ seconds.
      def flush(timeout: nil)
        within(timeout) { |subscriber, rest| subscriber.flush(timeout: rest) if subscriber.respond_to?(:flush) }
      end

      # Measures a block and returns its value. The block gets a Hash whose entries become attributes of
      # the end. An exception is recorded and raised again.
      def instrument(name, payload = {})
        diagnostic = payload[:diagnostic]
        handle = start(name, diagnostic: diagnostic, **payload.except(:diagnostic))
        changes = Support.deep_dup(payload.except(:diagnostic, :operation_id, :parent, :detached))
        outcome = {}
        begin
          yield changes
        rescue Exception => error # rubocop:disable Lint/RescueException -- recorded, then raised
          outcome = {outcome: :error, error_type: error.class.name.to_s, diagnostic: {exception: error}}
          raise
        ensure
          finish(handle, **changes, **outcome) if handle.active?
        end
      end

      # Tells subscribers of a point in time, with the current attributes and operation.
      def publish(name, diagnostic: nil, **attributes)
        operation = current
        identifiers = operation ? {operation_id: operation.operation_id} : {}
        notify(:emit, name.to_sym, self.attributes.merge(identifiers, attributes, captured(diagnostic)))
        nil
      end

      # Ends the bus: it takes no more operations, and subscribers release what they hold within +timeout+
      # seconds. Raises Error while operations are active.
      def shutdown(timeout: nil)
        @operations.close
        within(timeout) { |subscriber, rest| subscriber.shutdown(timeout: rest) if subscriber.respond_to?(:shutdown) }
      end

      # Starts an operation and returns its Handle. +parent+ is a Handle, the id of an operation elsewhere, or
      # nil. A +detached+ one may finish anywhere. Raises Error after #shutdown and ArgumentError for an id
      # that is active.
      def start(name, parent: current, operation_id: nil, detached: false, diagnostic: nil, **attributes)
        handle = Handle.new(
          bus: self, name: name.to_sym, operation_id: operation_id || Native::Identifier.generate, parent: parent,
          payload: self.attributes.merge(attributes), previous: current, detached: detached
        )
        @operations.add(handle)
        ExecutionState[@current_key] = handle unless detached
        notify(:start, handle.name, handle.payload.merge(captured(diagnostic), identifiers(handle)))
        handle
      end

      # Adds +subscriber+ once, last or first, and returns it.
      def subscribe(subscriber, prepend: false)
        @subscribers.add(subscriber, prepend)
      end

      def subscribed(subscriber, prepend: false, &block) # :nodoc:
        @subscribers.with(subscriber, prepend, &block)
      end

      # The first trace context that a subscriber knows, or an empty Hash.
      def trace_context(**attributes)
        carriers = @subscribers.map(:trace_context) do |subscriber|
          subscriber.trace_context(**attributes) if subscriber.respond_to?(:trace_context)
        end
        carriers.find { |carrier| carrier.is_a?(Hash) && !carrier.empty? } || {}
      end

      # Removes that very +subscriber+.
      def unsubscribe(subscriber)
        @subscribers.delete(subscriber)
        nil
      end

      # Adds a copy of +attributes+ to notifications while the block runs.
      def with_context(attributes, &block)
        added = Support.deep_dup(attributes).transform_keys(&:to_sym)
        ExecutionState.with({@context_key => self.attributes.merge(added).freeze}, &block)
      end

      # Tells subscribers what the engine measured.
      def relay(phase, name, attributes) # :nodoc:
        content = captured(attributes[:diagnostic])
        notify((phase == :notify) ? :emit : phase, name, self.attributes.merge(attributes.except(:diagnostic), content))
      end

      # Whether the policy may let content through.
      def captures? # :nodoc:
        !@content_capture.respond_to?(:enabled?) || @content_capture.enabled?
      end

      # Whether anybody listens.
      def subscribers? # :nodoc:
        @subscribers.any?
      end

      private

      def leave(handle)
        handle.previous.nil? ? ExecutionState.delete(@current_key) : ExecutionState[@current_key] = handle.previous
      end

      def attributes
        ExecutionState[@context_key] || {}
      end

      def captured(diagnostic)
        diagnostic.nil? || diagnostic.empty? ? {} : @content_capture.capture(diagnostic)
      end

      def identifiers(handle)
        {operation_id: handle.operation_id, parent_operation_id: handle.parent_operation_id}.compact
      end

      # Each subscriber has a copy of its own.
      def notify(callback, name, attributes)
        @subscribers.map(callback) do |subscriber|
          subscriber.public_send(callback, name, Support.deep_dup(attributes)) if subscriber.respond_to?(callback)
        end
      end

      def within(timeout)
        ends_at = timeout && now + timeout
        @subscribers.map(:flush) { |subscriber| yield subscriber, ends_at && [ends_at - now, 0].max }
        nil
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end
    end
  end
end
