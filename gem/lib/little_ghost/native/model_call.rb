# frozen_string_literal: true

module LittleGhost
  module Native
    # One request to a model that is written in Ruby: passes its events on and finds its response.
    class ModelCall # :nodoc:
      def initialize(model, payload, token)
        @model = model
        @token = token
        @request = ModelValues.request(payload["request"], cancellation_token: token)
      end

      # Tells user code that nobody waits for its answer any more.
      def cancel
        @withdrawn = true
        @token.cancel
      end

      # Yields the events as the engine takes them and returns the response; nil when there was none, or when the
      # call was withdrawn.
      def perform
        response = nil
        each_event do |event|
          return if @withdrawn

          response = event.data[:response] if event.type == :message_stop
          yield({"type" => event.type.name, "data" => plain(event.data)}) unless event.type == :message_stop
        end
        return if response.nil?
        unless response.is_a?(ModelResponse)
          raise ProtocolError, "#{@model.class}#stream must end with the LittleGhost::ModelResponse in message_stop, got #{response.class}"
        end

        ModelValues.plain_response(response)
      end

      private

      # A model yields to its block, or returns something with each, or both.
      def each_event(&consumer)
        yielded = false
        stream = @model.stream(@request) do |event|
          yielded = true
          consumer.call(checked(event))
        end
        return if yielded || !stream.respond_to?(:each)

        stream.each { |event| consumer.call(checked(event)) }
      end

      def checked(event)
        return event if event.is_a?(StreamEvent)

        raise ProtocolError, "#{@model.class}#stream must yield LittleGhost::StreamEvent, got #{event.class}"
      end

      def plain(data)
        data.to_h do |key, value|
          case value
          when Content::ToolUse then [key.name, Content.serialize(value)]
          when Usage then [key.name, value.to_h]
          else [key.name, value]
          end
        end
      end
    end
  end
end
