# frozen_string_literal: true

module LittleGhost
  module Tools
    class Filesystem
      # Writes one UTF-8 text file, in a directory that exists.
      class WriteFile < Tool
        extend SandboxTool

        defined_as "write_file"

        # Writes <tt>input["content"]</tt> to the file at <tt>input["path"]</tt>. Raises ToolError for what cannot be written.
        def call(input)
          sandbox.write(input.fetch("path"), input.fetch("content"), context: context)
        end
      end
    end
  end
end
