# frozen_string_literal: true

module LittleGhost
  module Tools
    class Filesystem
      # Lists one directory.
      class ListFiles < Tool
        extend SandboxTool

        defined_as "list_files"

        # The entries of the directory at <tt>input["path"]</tt>, or of the workspace. Raises ToolError for what cannot be listed.
        def call(input)
          sandbox.list(input["path"] || ".", context: context)
        end
      end
    end
  end
end
