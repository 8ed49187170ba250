# frozen_string_literal: true

module LittleGhost
  # Session stores that need no code of yours.
  module SessionStores
    autoload :Engine, "little_ghost/session_stores/engine"
    autoload :Filesystem, "little_ghost/session_stores/filesystem"
    autoload :Memory, "little_ghost/session_stores/memory"
  end
end
