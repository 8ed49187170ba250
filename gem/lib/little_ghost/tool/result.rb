# frozen_string_literal: true

module LittleGhost
  class Tool
    # A Ruby +value+ together with files or media that the tool produced. A tool without artifacts
    # returns its value directly.
    class Result < Data.define(:value, :artifacts)
      def initialize(value:, artifacts: [])
        super(value: value, artifacts: Array(artifacts).dup.freeze)
      end
    end
  end
end
