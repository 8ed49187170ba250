# frozen_string_literal: true

module LittleGhost
  class Session
    # Messages, state and metadata as a store has them. Holds plain data; messages are built when
    # somebody reads them.
    class Snapshot # :nodoc:
      UNUSABLE = [ArgumentError, TypeError, EncodingError].freeze
      private_constant :UNUSABLE

      class << self
        # From what an application wants to keep.
        def of(messages, state, metadata)
          usable do
            kept = Native.persistable_messages(Array(messages).map { |message| Message.coerce(message).to_h })
            new("messages" => kept, "state" => plain(state), "metadata" => plain(metadata))
          end
        end

        # From what a store returned: a Hash with Symbol or String keys.
        def from_store(found)
          usable do
            raise ArgumentError, "a snapshot is a Hash, got #{found.class}" unless found.respond_to?(:to_hash)

            found = found.to_hash.transform_keys(&:to_s)
            of(found["messages"], found["state"] || {}, found["metadata"] || {})
          end
        end

        # Yields, and says that the data cannot be kept where it cannot.
        def usable
          yield
        rescue *UNUSABLE => error
          raise ProtocolError, "the session holds a value that cannot be kept: #{error.message}"
        end

        private

        def plain(map)
          DataMap.coerce(map).to_h
        end
      end

      # The plain data.
      attr_reader :value

      def initialize(value, messages = nil)
        @value = value
        @messages = messages&.freeze
      end

      def count = value["messages"].length
      def state = value["state"]
      def metadata = value["metadata"]

      def messages
        @messages ||= value["messages"].map { |message| Message.build(message) }.freeze
      end

      # With the messages of +addition+ behind, and its state and metadata.
      def followed_by(addition)
        Snapshot.new(
          addition.value.merge("messages" => value["messages"] + addition.value["messages"]), messages + addition.messages
        )
      end

      def to_h
        {messages: messages, state: DataMap.new(state).to_h, metadata: DataMap.new(metadata).to_h}
      end
    end
  end
end
