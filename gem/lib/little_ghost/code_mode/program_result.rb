# frozen_string_literal: true

module LittleGhost
  module CodeMode
    # What one look at a program saw: its +output+ since the look before, its +value+ once it is completed, its +status+
    # (+:completed+, +:still_working+, +:terminated+ or +:error+), the +error+ of a program that failed, and +artifacts+ of its tool
    # calls with the +presentation_content+ that a model is shown of them.
    class ProgramResult < Data.define(:output, :value, :status, :error, :artifacts, :presentation_content)
      def initialize(output: "", value: nil, status: :completed, error: nil, artifacts: [], presentation_content: [])
        super(
          output: output, value: value, status: status.to_sym, error: error, artifacts: artifacts.dup.freeze,
          presentation_content: presentation_content.dup.freeze
        )
      end

      # From what the engine says.
      def self.build(hash) # :nodoc:
        new(
          output: hash["output"], value: hash["value"], status: hash["status"], error: hash["error"],
          artifacts: hash["artifacts"] || [], presentation_content: (hash["presentation_content"] || []).map { |block| Content.build(block) }
        )
      end

      # Whether the program ended successfully.
      def completed?
        status == :completed
      end

      # Whether the program goes on.
      def still_working?
        status == :still_working
      end

      # For the engine.
      def to_engine # :nodoc:
        {
          "output" => Native::Text.utf8(output.to_s), "value" => Native::ToolValue.data(value), "status" => status.name, "error" => error&.to_s,
          "artifacts" => Native::ToolValue.data(artifacts), "presentation_content" => presentation_content.map(&:to_h)
        }
      end
    end
  end
end
