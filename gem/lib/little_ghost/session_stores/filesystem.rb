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
      include Engine

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
    end
  end
end
