# frozen_string_literal: true

module LittleGhost
  module Tools
    class Filesystem
      # Reads one UTF-8 text file.
      class ReadFile < Tool
        extend SandboxTool

        defined_as "read_file"

        # The text of the file at <tt>input["path"]</tt>. Raises ToolError for what cannot be read.
        def call(input)
          sandbox.read(input.fetch("path"), context: context)
        end
      end
    end
  end
end
