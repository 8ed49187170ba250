# frozen_string_literal: true

require "little_ghost"

module LittleGhost
  module SessionStores
    # Keeps conversations in a directory, across restarts, for all processes that share it.
    #
    #   store = LittleGhost::SessionStores::Filesystem.new(root: "/var/lib/customer_support/sessions")
    #
    # The directory holds readable data: its whole path must belong to the application. It is made with mode
    # 0700, files with 0600, and anything else in their place is refused. Names say nothing about ids. The
    # actor of the first write owns a conversation.
    #
    # Each write is a new file that takes the place of the old one, on the disk before the call returns. Runs
    # of one conversation wait for each other, in this process and in others, as long as it takes;
    # meanwhile other threads and scheduled fibers go on. The file system needs +flock+ and atomic rename.
    class Filesystem < SessionStore
      # A store in the directory +root+, which is made when it is missing. Raises ArgumentError when it is empty,
      # a symbolic link, no directory, or open to others.
      def initialize(root:)
        super()
        path = File.path(root)
        raise ArgumentError, "root must not be empty" if path.empty?

        @access = Native::StoreAccess.new(Native::SessionStore.filesystem(path))
      rescue TypeError
        raise ArgumentError, "root must be a path, got #{root.class}"
      end

      # Adds +messages+ and returns the new snapshot. Raises ProtocolError unless +expected_count+ messages are
      # there, and when the file cannot be read or written or a value is no JSON; nothing is changed then. Raises
      # Error for another actor.
      def append(id, messages:, state:, metadata:, expected_count:, actor_id: nil)
        @access.append(id, actor_id, Session::Snapshot.of(messages, state, metadata), expected_count)
        load(id, actor_id: actor_id)
      end

      # The snapshot, or nil before the first write. Raises ProtocolError for a file that is not as it was
      # written, and Error for another actor.
      def load(id, actor_id: nil)
        @access.load(id, actor_id)
      end

      # Replaces the snapshot and returns the new one. Raises as #append does.
      def replace(id, messages:, state:, metadata:, actor_id: nil)
        @access.replace(id, actor_id, Session::Snapshot.of(messages, state, metadata))
        load(id, actor_id: actor_id)
      end

      # As SessionStore#synchronize, for all processes that share the directory.
      def synchronize(id, actor_id: nil, &work)
        @access.synchronize(id, actor_id, &work)
      end

      def add(id, snapshot, expected_count:, actor_id:) # :nodoc:
        return super unless native

        @access.append(id, actor_id, snapshot, expected_count)
      end

      def native # :nodoc:
        @access.native if instance_of?(Filesystem)
      end
    end
  end
end
