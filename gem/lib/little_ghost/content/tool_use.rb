# frozen_string_literal: true

module LittleGhost
  module Content
    # A tool call that the model asks for. +input+ is a DataMap of the arguments it chose.
    class ToolUse < Data.define(:id, :name, :input)
      def initialize(id:, name:, input:)
        super(id: present("id", id), name: present("name", name), input: arguments(input))
      end

      def serialize # :nodoc:
        {"type" => "tool_use", "id" => id, "name" => name, "input" => input.to_h}
      end

      private

      def present(field, value)
        text = value.nil? ? "" : value.to_s
        raise ArgumentError, "tool_use: #{field} is empty" if text.empty?

        text
      end

      def arguments(input)
        raise ArgumentError, "tool_use: input must be a Hash, got #{input.class}" unless input.is_a?(Hash)

        DataMap.coerce(input)
      end
    end
  end
end
