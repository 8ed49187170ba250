# frozen_string_literal: true

module LittleGhost
  module Tools
    class Filesystem
      # Replaces a text that a file has exactly once.
      class ReplaceInFile < Tool
        extend SandboxTool

        defined_as "replace_in_file"

        # Replaces <tt>input["old_text"]</tt> in the file at <tt>input["path"]</tt>. Raises ToolError when it is not there exactly once.
        def call(input)
          sandbox.replace(input.fetch("path"), input.fetch("old_text"), input.fetch("new_text"), context: context)
        end
      end
    end
  end
end
