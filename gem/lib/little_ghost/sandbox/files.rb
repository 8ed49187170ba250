# frozen_string_literal: true

module LittleGhost
  class Sandbox
    # Operations on files, which the engine does for every sandbox and scope: each part of a path is opened without
    # following links.
    module Files # :nodoc:
      # The UTF-8 text of the file at +path+, relative to the workspace's root or <tt>workspace://name/path</tt>. Raises
      # ToolError for what cannot be read, and KeyError for a name that the workspace does not have.
      def read(path, context: nil)
        engine_does({"op" => "read", "path" => path.to_s}, context)
      end

      # The entries of the directory at +path+: sorted, one a line, directories with a slash. Raises as #read.
      def list(path = ".", context: nil)
        engine_does({"op" => "list", "path" => path.to_s}, context)
      end

      # Writes a whole file in a directory that exists, and returns a sentence that says so. Raises as #read, and
      # ArgumentError for content that is no String.
      def write(path, content, context: nil)
        raise ArgumentError, "the content of a file is a String, got #{content.class}" unless content.is_a?(String)

        engine_does({"op" => "write", "path" => path.to_s, "content_base64" => [content].pack("m0")}, context)
      end

      # Replaces the one occurrence of +old_text+ in a file, and returns a sentence that says so. Raises as #read, and
      # ToolError when the text is empty, absent, or there more than once.
      def replace(path, old_text, new_text, context: nil)
        engine_does({"op" => "replace", "path" => path.to_s, "old_text" => old_text.to_s, "new_text" => new_text.to_s}, context)
      end

      # Whether +operation+, such as +:read+, is allowed, at all or at +path+.
      def allows?(operation, path = nil)
        engine.allows?(operation.to_s, path&.to_s)
      end

      # Whether tools may change any file.
      def writable?
        engine.info["writable"]
      end

      private

      def engine_does(operation, context)
        Native::JobWait.finish(engine.perform(operation), context)
      end
    end
  end
end
