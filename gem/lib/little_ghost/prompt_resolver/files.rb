# frozen_string_literal: true

module LittleGhost
  class PromptResolver
    # Finds the file of a prompt's name, by the rules that the engine has for every template language.
    class Files # :nodoc:
      SUFFIXES = ["erb"].freeze
      private_constant :SUFFIXES

      # The name of a partial: beside +parent+ when it has no folder, and with an underscore.
      def self.partial(name, parent)
        Native.prompt_partial_name(Native::Text.utf8(name.to_s), parent.to_s)
      end

      def initialize(roots)
        @roots = roots.map { |root| [root.path, root.boundary] }
      end

      # The resolved path of the first file for +name+. Raises InvalidPromptTemplateError for an unsafe name and
      # MissingPromptTemplateError when no root has the file.
      def find(name)
        Native.prompt_lookup(name, @roots, SUFFIXES)
      end
    end
  end
end
