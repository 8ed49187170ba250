# frozen_string_literal: true

module LittleGhost
  # Tells telemetry what agents, models, tools and runs do: each operation starts and finishes, and
  # points in time are published in between.
  #
  #   class TimingSubscriber < LittleGhost::Instrumentation::Subscriber
  #     def finish(name, attributes)
  #       puts "#{name}: #{attributes.fetch(:duration_ms)} ms"
  #     end
  #   end
  #
  #   LittleGhost.configure { |config| config.instrument TimingSubscriber.new }
  #
  # A subscriber that fails is reported once as an event and never breaks the work. Content of requests and
  # answers is left out unless capture_content allows it. One process has one set of subscribers and one
  # policy.
  module Instrumentation
    autoload :Bus, "little_ghost/instrumentation/bus"
    autoload :Handle, "little_ghost/instrumentation/handle"
    autoload :Operations, "little_ghost/instrumentation/operations"
    autoload :Subscriber, "little_ghost/instrumentation/subscriber"
    autoload :Subscribers, "little_ghost/instrumentation/subscribers"

    @lock = Mutex.new
    @notifier = nil

    class << self
      # Whether anybody is told; finds out without making a Bus.
      def listening? # :nodoc:
        !@notifier.nil? && @notifier.subscribers?
      end

      # The process-wide Bus.
      def notifier
        @notifier || @lock.synchronize { @notifier ||= Bus.new }
      end

      # Replaces the process-wide Bus. Raises Error while it has active operations, ArgumentError for anything else than a Bus.
      def notifier=(value)
        raise ArgumentError, "expected an Instrumentation::Bus, got #{value.class}" unless value.is_a?(Bus)
        raise Error, "the bus has active operations; replace it when they are finished" if notifier.active?

        @notifier = value
      end

      # Sets what content telemetry may get; a Support::ContentCapture.
      def capture_content(...)
        notifier.capture_content(...)
      end

      # A copy of the attributes that notifications carry now.
      def context
        notifier.context
      end

      # The current fiber's active Handle, or nil.
      def current
        notifier.current
      end

      # Has subscribers send what they buffer.
      def flush(...)
        notifier.flush(...)
      end

      # Measures a block; see Bus#instrument.
      def instrument(...)
        notifier.instrument(...)
      end

      # Publishes a point in time; see Bus#publish.
      def publish(...)
        notifier.publish(...)
      end

      # Ends the process-wide Bus; see Bus#shutdown.
      def shutdown(...)
        notifier.shutdown(...)
      end

      # Starts an operation; see Bus#start.
      def start(...)
        notifier.start(...)
      end

      # Adds a subscriber.
      def subscribe(...)
        notifier.subscribe(...)
      end

      # Adds a subscriber for this execution while the block runs.
      def subscribed(subscriber, prepend: false, &block)
        notifier.subscribed(subscriber, prepend: prepend, &block)
      end

      # What downstream work needs to join the trace; see Bus#trace_context.
      def trace_context(...)
        notifier.trace_context(...)
      end

      # Removes a subscriber.
      def unsubscribe(...)
        notifier.unsubscribe(...)
      end

      # Adds attributes to the notifications of the block.
      def with_context(attributes, &block)
        notifier.with_context(attributes, &block)
      end
    end
  end
end
