# frozen_string_literal: true

module LittleGhost
  module Support
    # Makes a lazy stream of work that blocks, such as a read inside somebody else's SDK, which ends when it is
    # cancelled or late.
    #
    #   stream = LittleGhost::Support::InterruptibleStream.new(cancellation_token: token) do |emit|
    #     source.each { |value| emit.call(value) }
    #   end
    #   stream.each { |value| ... }
    #
    # The producer runs on a thread of its own, also below a Fiber scheduler, so that it can be stopped while it
    # waits. It waits itself while +buffer_size+ values are unread.
    class InterruptibleStream
      include Enumerable

      # The producer went on after the time that it has to stop.
      class CleanupError < LittleGhost::CleanupError; end

      autoload :Work, "little_ghost/support/interruptible_stream/work"

      BUFFER_SIZE = 64
      private_constant :BUFFER_SIZE

      # +deadline+ is a Time or nil. The block gets a callable that emits one value.
      def initialize(cancellation_token:, deadline: nil, buffer_size: BUFFER_SIZE, &producer)
        raise ArgumentError, "an InterruptibleStream needs a block that produces its values" unless producer
        unless buffer_size.is_a?(Integer) && buffer_size.positive?
          raise ArgumentError, "buffer_size must be a positive Integer, got #{buffer_size.inspect}"
        end

        @token = cancellation_token || CancellationToken.new
        @deadline = deadline
        @buffer_size = buffer_size
        @producer = producer
      end

      # Yields each value and returns +self+. Without a block, an Enumerator. Raises what the producer raises,
      # CancelledError, DeadlineExceededError, and CleanupError when the producer does not stop.
      def each
        return enum_for(:each) unless block_given?

        check
        work = Work.new(@token, @deadline, @buffer_size, &@producer)
        begin
          while (item = work.take)
            check
            yield item.first
          end
          check
          work.raise_failure
        ensure
          work.stop
        end
        self
      end

      private

      def check
        @token.raise_if_cancelled!
        raise DeadlineExceededError, "the deadline passed" if @deadline && Time.now >= @deadline
      end
    end
  end
end
