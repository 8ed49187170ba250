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
      include Engine

      # Without conversations.
      def initialize
        super
        @access = Native::StoreAccess.new(Native::SessionStore.memory)
      end
    end
  end
end
