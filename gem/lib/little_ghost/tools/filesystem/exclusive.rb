# frozen_string_literal: true

module LittleGhost
  module Tools
    class Filesystem
      # The same tools, which never overlap with each other or with other exclusive tools of a run, for files that are
      # changed by several calls. Reading waits too, so that it never sees half a change.
      class Exclusive < self
        READING = [ReadFile, ListFiles].map { |tool| Class.new(tool) { exclusive true } }.freeze
        WRITING = [WriteFile, ReplaceInFile].map { |tool| Class.new(tool) { exclusive true } }.freeze
        private_constant :READING, :WRITING

        class << self
          private

          def reading = READING

          def writing = WRITING
        end
      end
    end
  end
end
