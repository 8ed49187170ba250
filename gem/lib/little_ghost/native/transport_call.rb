# frozen_string_literal: true

module LittleGhost
  module Native
    # One request that an object of the application carries, or one other thing that it does for a provider.
    class TransportCall # :nodoc:
      def initialize(parts, payload, token)
        @parts = parts
        @payload = payload
        @token = token
      end

      # Tells user code that nobody waits for its answer any more.
      def cancel
        @token.cancel
      end

      # Passes the parts of the response on, to a block that tells whether more are wanted. Leaving early closes what the
      # transport has open.
      def perform(&wanted)
        return @parts.perform(@payload, @token) if @payload.key?("op")

        each_chunk do |chunk|
          raise ProtocolError, "a transport must yield Strings, got #{chunk.class}" unless chunk.is_a?(String)
          break unless wanted.call(chunk)
        end
        nil
      end

      private

      # A transport yields to its block, or returns something with each, or both.
      def each_chunk
        yielded = false
        stream = @parts.transport.stream(**request) do |chunk|
          yielded = true
          yield chunk
        end
        stream.each { |chunk| yield chunk } if !yielded && stream.respond_to?(:each)
      end

      def request
        deadline = @payload["deadline_at"]
        {
          path: @payload["path"], headers: @parts.spelled(@payload["headers"]), body: @payload["body"], cancellation_token: @token,
          deadline: deadline && Time.at(deadline)
        }
      end
    end
  end
end
