# frozen_string_literal: true

module LittleGhost
  module Instrumentation
    # The active operations of one bus, and the rules of their order.
    class Operations # :nodoc:
      def initialize
        @lock = Mutex.new
        @active = {}
        @closed = false
      end

      def add(handle)
        @lock.synchronize do
          raise Error, "the bus is shut down; it takes no more operations" if @closed
          if @active.key?(handle.operation_id)
            raise ArgumentError, "operation #{handle.operation_id} is already active"
          end

          @active[handle.operation_id] = handle
        end
      end

      # Removes +handle+, which must be the last of its fiber and have no active children.
      def remove(handle, current)
        @lock.synchronize do
          unless @active[handle.operation_id].equal?(handle)
            raise ArgumentError, "#{handle.name} is not active: it is finished, or of another bus"
          end

          check_order(handle, current)
          child = @active.each_value.find { |other| other.parent.equal?(handle) }
          raise Error, "#{handle.name} cannot finish before #{child.name}, which it encloses" if child

          @active.delete(handle.operation_id)
        end
      end

      def active?(handle = nil)
        @lock.synchronize { handle.nil? ? !@active.empty? : @active[handle.operation_id].equal?(handle) }
      end

      def close
        @lock.synchronize do
          raise Error, "the bus has active operations; finish them before shutdown" unless @active.empty?

          @closed = true
        end
      end

      private

      def check_order(handle, current)
        return if handle.detached?
        raise Error, "#{handle.name} must finish on the fiber that started it; start it with detached: true" unless handle.owner?
        return if current.equal?(handle)

        raise Error, "#{handle.name} must finish after #{current&.name || "what it encloses"}"
      end
    end
  end
end
