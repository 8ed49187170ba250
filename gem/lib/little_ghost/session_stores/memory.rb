# frozen_string_literal: true

require "little_ghost"

module LittleGhost
  module SessionStores
    # Keeps conversations for the life of the process. The default of every Runtime.
    #
    # The actor that first loads or writes a conversation owns it; any other, and none, gets an Error.
    # Conversations under an id of yours stay until the process ends. Of those whose id was generated for
    # one run, the 1,000 that were used last stay.
    class Memory < SessionStore
      # Without conversations.
      def initialize
        super
        @access = Native::StoreAccess.new(Native::SessionStore.memory)
      end

      # Adds +messages+ and returns the new snapshot. Raises ProtocolError unless +expected_count+
      # messages are there.
      def append(id, messages:, state:, metadata:, expected_count:, actor_id: nil)
        @access.append(id, actor_id, Session::Snapshot.of(messages, state, metadata), expected_count)
        load(id, actor_id: actor_id)
      end

      # The snapshot, or nil before the first write. An +actor_id+ claims a new id.
      def load(id, actor_id: nil)
        @access.load(id, actor_id)
      end

      # Replaces the snapshot and returns the new one.
      def replace(id, messages:, state:, metadata:, actor_id: nil)
        @access.replace(id, actor_id, Session::Snapshot.of(messages, state, metadata))
        load(id, actor_id: actor_id)
      end

      # As SessionStore#synchronize.
      def synchronize(id, actor_id: nil, &work)
        @access.synchronize(id, actor_id, &work)
      end

      def add(id, snapshot, expected_count:, actor_id:) # :nodoc:
        return super unless native

        @access.append(id, actor_id, snapshot, expected_count)
      end

      def native # :nodoc:
        @access.native if instance_of?(Memory)
      end
    end
  end
end
