# frozen_string_literal: true

module LittleGhost
  # What the lookup of prompts and skills shares.
  module Lookup
    # A directory to search, as an absolute +path+, and the directory that it must not leave through
    # symbolic links, or nil. Neither has to exist.
    class Root < Data.define(:path, :boundary)
      def initialize(path:, boundary: nil)
        super(path: File.expand_path(path).freeze, boundary: boundary.nil? ? nil : File.expand_path(boundary).freeze)
      end
    end
  end
end
