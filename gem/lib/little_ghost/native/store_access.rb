# frozen_string_literal: true

module LittleGhost
  module Native
    # One of the engine's session stores, as Ruby calls it. Waiting frees the GVL, obeys signals, Timeout
    # and Thread#kill, and lets a Fiber scheduler run other fibers.
    class StoreAccess # :nodoc:
      # The engine's store.
      attr_reader :native

      def initialize(native)
        @native = native
      end

      def load(id, actor_id)
        snapshot(finish(native.load(text(id), actor(actor_id))))
      end

      def append(id, actor_id, addition, expected_count)
        call = Session::Snapshot.usable { native.append(text(id), actor(actor_id), addition.value, expected_count) }
        finish(call)
      end

      def replace(id, actor_id, replacement)
        call = Session::Snapshot.usable { native.replace(text(id), actor(actor_id), replacement.value) }
        finish(call)
      end

      def synchronize(id, actor_id)
        call = native.synchronize(text(id), actor(actor_id))
        begin
          wait(call)
          yield
        ensure
          call.release
        end
      end

      private

      def finish(call)
        wait(call)
      ensure
        call.release
      end

      def wait(call)
        io = nil
        until (taken = call.take)
          (io ||= IO.for_fd(call.fd, autoclose: false)).wait_readable
        end
        taken.first
      end

      def snapshot(value)
        value && Session::Snapshot.new(value).to_h
      end

      def text(id)
        id = Text.utf8(id.to_s)
        raise ArgumentError, "a session needs an id" if id.empty?

        id
      end

      def actor(id)
        id && Text.utf8(id.to_s)
      end
    end
  end
end
