# frozen_string_literal: true

module LittleGhost
  module Instrumentation
    # An operation between Instrumentation.start and #finish. Unless it is detached, it belongs to the
    # fiber that started it, and finishes after the operations that it encloses.
    class Handle
      # What is measured, a Symbol.
      attr_reader :name
      # Its identifier.
      attr_reader :operation_id
      # The identifier of what encloses it, or nil.
      attr_reader :parent_operation_id
      # Its attributes; a frozen Hash.
      attr_reader :payload
      # The operation that was current when it started, or nil.
      attr_reader :previous
      # When it started, in seconds of the monotonic clock.
      attr_reader :started_at
      attr_reader :parent, :fiber # :nodoc:

      def initialize(bus:, name:, operation_id:, parent:, payload:, previous:, detached:) # :nodoc:
        @bus = bus
        @name = name
        @operation_id = operation_id
        @parent = parent.is_a?(Handle) ? parent : nil
        @parent_operation_id = @parent ? @parent.operation_id : parent
        @payload = payload.freeze
        @previous = previous
        @detached = detached
        @fiber = Fiber.current
        @started_at = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end

      # Whether the operation goes on.
      def active?
        @bus.active?(self)
      end

      # Whether it may finish anywhere and in any order.
      def detached?
        @detached
      end

      # Ends the operation; see Bus#finish.
      def finish(**attributes)
        @bus.finish(self, **attributes)
      end

      # Whether the parent is an active operation of this process.
      def local_parent?
        !parent.nil? && parent.active?
      end

      # Whether the current fiber started it.
      def owner?
        fiber.equal?(Fiber.current)
      end

      # Names the operation.
      def inspect
        "#<#{self.class} #{name} #{operation_id}>"
      end
    end
  end
end
