# frozen_string_literal: true

module LittleGhost
  class Configuration
    # What runs share: sessions, hooks, telemetry, concurrency.
    module ServiceSettings # :nodoc:
      extend Settings

      # How overlapping work starts: +:auto+ (fibers in a scheduled fiber, else threads), +:thread+, or
      # +:fiber+, which raises ConfigurationError outside a scheduled fiber.
      setting(:concurrency_backend, default: :auto) { |value| backend(value) }
      # The class that payloads become; a subclass of Invocation.
      setting(:invocation, default: Invocation) { |value| invocation_class(value) }
      # The name of this service in telemetry; keep it the same for every process.
      setting(:service_name, default: "little-ghost")
      # Where sessions are kept: {provider: a SessionStore class, ...its options}; in memory unless set.
      setting(:session_store) { |value| store_declaration(value) }
      # Derives the persistent actor from an Invocation; +invocation.actor_id+ unless set.
      setting(:session_actor) { |value| value.nil? ? nil : callable(:session_actor, value) }
      setting(:instrumentation_subscribers, default: []) { |value| Array(value).dup }
      setting(:runtime_hooks, default: []) { |value| Array(value).map { |hook| hook_class(hook) } }

      # Adds a subscriber of instrumentation to each new Runtime and returns it.
      def instrument(subscriber)
        write(:instrumentation_subscribers, read(:instrumentation_subscribers) + [subscriber])
        subscriber
      end

      # Adds a subclass of Runtime::Hook to each new Runtime and returns it.
      def runtime_hook(hook_class)
        write(:runtime_hooks, read(:runtime_hooks) + [hook_class(hook_class)])
        hook_class
      end

      # Would keep attachments and large results under the workspace's +:artifacts+ path. This version has no store for
      # them and raises ConfigurationError, rather than letting them get lost.
      def artifacts(&resolver)
        raise ConfigurationError, "this version cannot store artifacts; remove config.artifacts"
      end

      private

      def backend(value)
        name = value.respond_to?(:to_sym) ? value.to_sym : value
        return name if Native::Concurrency::BACKENDS.include?(name)

        raise ArgumentError, "concurrency_backend must be :auto, :thread or :fiber, got #{value.inspect}"
      end

      def invocation_class(value)
        return value if value.is_a?(Class) && value <= Invocation

        raise ArgumentError, "invocation must be a subclass of LittleGhost::Invocation, got #{value.inspect}"
      end

      def hook_class(value)
        return value if value.is_a?(Class) && value <= Runtime::Hook

        raise ArgumentError, "a runtime hook is a subclass of LittleGhost::Runtime::Hook, got #{value.inspect}"
      end

      def store_declaration(value)
        return value if value.nil? || (value.is_a?(Hash) && value[:provider].is_a?(Class))

        raise ArgumentError, "session_store takes a Hash whose :provider is a SessionStore class, got #{value.class}"
      end
    end
  end
end
