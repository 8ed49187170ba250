# frozen_string_literal: true

module LittleGhost
  module SessionStores
    # What the engine's stores have in common: they differ in where they keep conversations.
    module Engine # :nodoc:
      # Adds +messages+ and returns the new snapshot. Raises ProtocolError unless +expected_count+ messages are
      # there, and when something cannot be read or written or a value is no JSON; nothing is changed then. Raises
      # Error for another actor.
      def append(id, messages:, state:, metadata:, expected_count:, actor_id: nil)
        @access.append(id, actor_id, Session::Snapshot.of(messages, state, metadata), expected_count)
        load(id, actor_id: actor_id)
      end

      # The snapshot, or nil before the first write. Raises ProtocolError for one that is not as it was written, and
      # Error for another actor.
      def load(id, actor_id: nil)
        @access.load(id, actor_id)
      end

      # Replaces the snapshot and returns the new one. Raises as #append does.
      def replace(id, messages:, state:, metadata:, actor_id: nil)
        @access.replace(id, actor_id, Session::Snapshot.of(messages, state, metadata))
        load(id, actor_id: actor_id)
      end

      # As SessionStore#synchronize, for all who share what is stored.
      def synchronize(id, actor_id: nil, &work)
        @access.synchronize(id, actor_id, &work)
      end

      def add(id, snapshot, expected_count:, actor_id:)
        return super unless native

        @access.append(id, actor_id, snapshot, expected_count)
      end

      # A subclass may have changed an operation, which the engine would not call.
      def native
        @access.native if self.class.superclass.equal?(SessionStore)
      end
    end
  end
end
