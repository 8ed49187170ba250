# frozen_string_literal: true

module LittleGhost
  # Tools that come with the library.
  module Tools
    autoload :Filesystem, "little_ghost/tools/filesystem"
    autoload :SandboxTool, "little_ghost/tools/sandbox_tool"
    autoload :Shell, "little_ghost/tools/shell"
    autoload :WriteTodos, "little_ghost/tools/write_todos"
  end
end
