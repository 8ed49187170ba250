# frozen_string_literal: true

module LittleGhost
  # Tools that come with the library.
  module Tools
    autoload :WriteTodos, "little_ghost/tools/write_todos"
  end
end
