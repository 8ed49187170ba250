# frozen_string_literal: true

module LittleGhost
  module Support
    # Lets related work stop cooperatively. Cancelling reaches every child token and the network
    # requests of a Run; it never kills a thread or fiber. Work that takes long calls
    # #raise_if_cancelled! now and then.
    class CancellationToken
      # Attaches the token to +parent+, when there is one.
      def initialize(parent: nil)
        @native = parent.nil? ? Native::Token.new : parent.native.child
      end

      def self.wrap(native) # :nodoc:
        allocate.tap { |token| token.instance_variable_set(:@native, native) }
      end

      attr_reader :native # :nodoc:

      # Cancels this token and its children. Returns +self+.
      def cancel
        @native.cancel
        self
      end

      # Whether cancellation was requested.
      def cancelled?
        @native.cancelled?
      end

      # A token that is cancelled together with this one.
      def child
        self.class.new(parent: self)
      end

      # Raises CancelledError when cancellation was requested.
      def raise_if_cancelled!
        raise CancelledError, "the operation was cancelled" if cancelled?
      end

      # Waits at most +timeout+ seconds, or without limit for nil. Returns whether the token is
      # cancelled. Other threads and scheduled fibers go on meanwhile.
      def wait(timeout)
        return true if cancelled?

        watch = @native.watch
        begin
          IO.for_fd(watch.fd, autoclose: false).wait_readable(timeout)
        ensure
          watch.release
        end
        cancelled?
      end

      def inspect
        "#<#{self.class} #{cancelled? ? "cancelled" : "active"}>"
      end
    end
  end
end
