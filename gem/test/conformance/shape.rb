# frozen_string_literal: true

module Conformance
  # Public objects in the JSON shapes that all three languages share.
  module Shape
    class << self
      # The data of an event.
      def data(event)
        event.data.to_h { |key, value| [key.name, plain(value)] }
      end

      # <tt>{class, message, status?}</tt>, which is what every language can say about an error.
      def error(error)
        return if error.nil?

        # Only Ruby has a class of its own for what a service says in the middle of an answer.
        type = error.is_a?(LittleGhost::Providers::OpenAICompatible::StreamError) ? LittleGhost::ProviderError : error.class
        shape = {"class" => type.name.split("::").last, "message" => error.message}
        shape["status"] = error.status if error.is_a?(LittleGhost::Providers::HTTPError) && error.status
        shape
      end

      def plain(value)
        case value
        when LittleGhost::Message then value.to_h
        when LittleGhost::Usage then value.to_h.transform_keys(&:name)
        when LittleGhost::ModelResponse
          {"message" => value.message.to_h, "stop_reason" => value.stop_reason.name,
           "usage" => plain(value.usage), "metadata" => plain(value.metadata)}
        when LittleGhost::RunResult then result(value)
        when Exception then error(value)
        when Hash then value.to_h { |key, nested| [key.to_s, plain(nested)] }
        when Array then value.map { |nested| plain(nested) }
        when Symbol then value.name
        when nil, true, false, String, Numeric then value
        else LittleGhost::Content.serialize(value)
        end
      end

      private

      def result(value)
        shape = {
          "message" => plain(value.message), "stop_reason" => value.stop_reason.name,
          "usage" => plain(value.usage), "messages" => plain(value.messages)
        }
        structured = value.structured_result
        shape["structured"] = {"name" => structured.schema_name, "value" => plain(structured.value)} if structured
        shape
      end
    end
  end
end
