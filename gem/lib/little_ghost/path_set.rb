# frozen_string_literal: true

module LittleGhost
  # Directories in the order in which they are searched. It never changes: #+ makes another one.
  #
  #   paths = LittleGhost::PathSet.new(["app/prompts"]) + LittleGhost::PathSet.new(["shared/prompts"])
  #   paths.map(&:path)
  class PathSet
    include Enumerable

    # The frozen Lookup::Root values.
    attr_reader :paths

    # Takes paths and Lookup::Root values. Relative paths start at the current directory.
    def initialize(paths = [])
      @paths = Array(paths).map { |path| path.is_a?(Lookup::Root) ? path : Lookup::Root.new(path: path) }.freeze
      freeze
    end

    # A new set with +other+, a PathSet or an Array, searched after this one.
    def +(other)
      self.class.new(to_a + other.to_a)
    end

    # Yields each Lookup::Root.
    def each(&block)
      return enum_for(:each) unless block

      paths.each(&block)
      self
    end

    # A new Array of the roots.
    def to_a
      paths.dup
    end
  end
end
