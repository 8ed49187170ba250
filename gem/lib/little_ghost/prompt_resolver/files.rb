# frozen_string_literal: true

module LittleGhost
  class PromptResolver
    # Finds the file of a prompt's name.
    class Files # :nodoc:
      class << self
        # +name+ without what could make it leave its root.
        def logical(name)
          text = name.to_s
          parts = text.split("/", -1)
          unsafe = text.empty? || text.start_with?("/") || text.include?("\0") || text.include?("\\") ||
            parts.any? { |part| part.empty? || part == "." || part == ".." }
          return text unless unsafe

          raise InvalidPromptTemplateError, "prompt name #{text.inspect} must be a relative path without '..'"
        end

        # The name of a partial: beside +parent+ when it has no folder, and with an underscore.
        def partial(name, parent)
          text = logical(name)
          folder, base = text.include?("/") ? [File.dirname(text), File.basename(text)] : [parent && File.dirname(parent), text]
          folder.nil? || folder == "." ? "_#{base}" : "#{folder}/_#{base}"
        end
      end

      def initialize(roots)
        @roots = roots
      end

      # The resolved path of the first file for +name+. Raises MissingPromptTemplateError.
      def find(name)
        candidates = name.end_with?(".erb") ? ["#{name}.erb", name] : ["#{name}.erb"]
        @roots.each do |root|
          real = real_root(root)
          next if real.nil?

          candidates.each do |candidate|
            path = real(File.join(real, candidate))
            return path if path && path.start_with?("#{real}/") && File.file?(path)
          end
        end
        raise MissingPromptTemplateError, "there is no prompt #{name}.erb in #{@roots.map(&:path).join(", ")}"
      end

      private

      def real_root(root)
        real = real(root.path)
        return real if real.nil? || root.boundary.nil?

        boundary = real(root.boundary)
        return real if boundary && (real == boundary || real.start_with?("#{boundary}/"))

        raise InvalidPromptTemplateError, "prompt root #{root.path} leads out of #{root.boundary}; " \
          "name another directory in prompt_paths"
      end

      def real(path)
        File.realpath(path)
      rescue SystemCallError
        nil
      end
    end
  end
end
