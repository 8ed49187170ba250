# frozen_string_literal: true

module LittleGhost
  class Tool
    # What Tool#execute returns: the application's +value+, the text that a model reads, whether the
    # call succeeded, and the +error+ that kept it from doing so.
    class Outcome < Data.define(:value, :content, :status, :error, :artifacts) # :nodoc:
      class << self
        def success(value)
          artifacts = value.is_a?(Result) ? value.artifacts : [].freeze
          value = value.value if value.is_a?(Result)
          new(value: value, content: text(value), status: :success, error: nil, artifacts: artifacts)
        end

        def invalid(violations)
          failed(Native.tool_input_error_text(violations), nil)
        end

        def failure(error)
          failed(Native.tool_failure_text(*Native::Failure.describe(error)), error)
        end

        private

        def failed(content, error)
          new(value: nil, content: content, status: :error, error: error, artifacts: [].freeze)
        end

        def text(value)
          plain = Native::ToolValue.plain(value)
          begin
            Native.tool_value_text(plain)
          rescue ArgumentError, TypeError
            Native::ToolValue.json(plain)
          end
        end
      end

      # What is shown to a user; the same as +content+.
      def presentation_content = content
    end
  end
end
