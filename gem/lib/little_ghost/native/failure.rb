# frozen_string_literal: true

module LittleGhost
  module Native
    # Exceptions as the engine describes them, and back. The table of kinds is the engine's.
    module Failure # :nodoc:
      HOST = "HostError"

      class << self
        # The exception for a Hash of the engine: kind, message and what else is known.
        def build(value)
          message = value["message"]
          case kind = value["kind"]
          when "HTTPError" then Providers::HTTPError.new(message, status: value["status"], body: value["body"])
          when "StructuredResultError" then structured(message, value["data"] || {})
          when "ProviderError" then provider(message, value)
          when HOST then value["host_class"] == "KeyError" ? KeyError.new(message) : Error.new("#{value["host_class"]}: #{message}")
          else (classes[kind] || Error).new(message)
          end
        end

        # Kind, class name and message of +exception+, for the engine.
        def describe(exception)
          [kind(exception), class_name(exception), message(exception)]
        end

        # The class for each kind.
        def classes
          @classes ||= Native.error_kinds.filter_map { |name, _| [name, constant(name)] if name != HOST }.to_h.freeze
        end

        private

        # What a service said in the middle of an answer has a code or a type of its own.
        def provider(message, value)
          type = value.dig("data", "error_type")
          code = value["code"]
          return ProviderError.new(message) if code.nil? && type.nil?
          return Providers::Bedrock::StreamError.new(message, event_type: code) if code.to_s.end_with?("_exception")

          Providers::OpenAICompatible::StreamError.new(message, error_type: type, code: code)
        end

        def structured(message, data)
          StructuredResultError.new(
            message, schema_name: data["schema_name"], validation_errors: data["validation_errors"] || []
          )
        end

        def constant(name)
          case name
          when "ArgumentError" then ::ArgumentError
          when "HTTPError" then Providers::HTTPError
          else LittleGhost.const_get(name, false)
          end
        end

        # A foreign exception keeps its own class name; only the library's own are kinds.
        def kind(exception)
          return HOST unless exception.is_a?(Error)

          @kinds ||= classes.invert
          exception.class.ancestors.each do |ancestor|
            name = @kinds[ancestor]
            return name if name
          end
          "Error"
        end

        def class_name(exception)
          exception.class.ancestors.find { |ancestor| ancestor.is_a?(Class) && ancestor.name }.name
        end

        def message(exception)
          Text.utf8(exception.message.to_s)
        rescue StandardError
          "(the exception has no readable message)"
        end
      end
    end
  end
end
