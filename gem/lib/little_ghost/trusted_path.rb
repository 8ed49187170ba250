# frozen_string_literal: true

module LittleGhost
  # A directory of prompts that application code chose for one request. Prompts run as Ruby: never
  # make one from what a request or a model says. It says who chose, and checks nothing but that the
  # directory exists. Symbolic links are resolved at once; ArgumentError is raised for what is no directory.
  class TrustedPath < Data.define(:path)
    def initialize(path:)
      real = File.realpath(path)
      raise ArgumentError, "trusted path #{path} is no directory" unless File.directory?(real)

      super(path: real.freeze)
    rescue SystemCallError
      raise ArgumentError, "trusted path #{path} does not exist"
    end
  end
end
