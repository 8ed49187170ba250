# frozen_string_literal: true

module LittleGhost
  module Tools
    # Lets a model read, list, write and replace in files, through the sandbox of its run. When that can write nothing, the
    # model can only read and list.
    #
    #   class EditorAgent < LittleGhost::Agent
    #     tools LittleGhost::Tools::Filesystem
    #   end
    #
    # What a path may reach, and how much, the sandbox decides.
    class Filesystem
      autoload :Exclusive, "little_ghost/tools/filesystem/exclusive"
      autoload :ListFiles, "little_ghost/tools/filesystem/list_files"
      autoload :ReadFile, "little_ghost/tools/filesystem/read_file"
      autoload :ReplaceInFile, "little_ghost/tools/filesystem/replace_in_file"
      autoload :WriteFile, "little_ghost/tools/filesystem/write_file"

      class << self
        # The tools for the sandbox of +binding+. Raises ConfigurationError when it has none.
        def tools(binding)
          sandbox = binding.sandbox
          raise ConfigurationError, "#{self} needs a sandbox; give the binding one" if sandbox.nil?

          sandbox.writable? ? reading + writing : reading
        end

        private

        def reading
          [ReadFile, ListFiles]
        end

        def writing
          [WriteFile, ReplaceInFile]
        end
      end
    end
  end
end
