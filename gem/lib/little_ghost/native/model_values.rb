# frozen_string_literal: true

module LittleGhost
  module Native
    # Model requests, responses and results as value objects, and back.
    module ModelValues # :nodoc:
      class << self
        # The ModelRequest for a Hash of the engine.
        def request(hash, cancellation_token:)
          deadline = hash["deadline_at"]
          ModelRequest.new(
            messages: hash["messages"].map { |message| Message.build(message) },
            tools: (hash["tools"] || []).map { |tool| tool.transform_keys(&:to_sym) },
            settings: DataMap.new(hash["settings"] || {}), output_schema: hash["output_schema"]&.transform_keys(&:to_sym),
            tool_choice: tool_choice(hash["tool_choice"]), required_capabilities: hash["required_capabilities"] || [],
            cancellation_token: cancellation_token, deadline: deadline && Time.at(deadline)
          )
        end

        # What of a replaced request is taken over.
        def plain_request(request)
          unless request.is_a?(ModelRequest)
            raise ArgumentError, "a request must be replaced by a LittleGhost::ModelRequest, got #{request.class}"
          end

          {"messages" => messages(request.messages), "settings" => request.settings.to_h.transform_keys(&:to_s)}
        end

        # All of a request, for one that the engine sends by itself.
        def whole_request(request)
          {
            "messages" => messages(request.messages), "tools" => request.tools.map { |tool| plain_tool(tool) },
            "settings" => request.settings.to_h, "output_schema" => request.output_schema, "tool_choice" => request.tool_choice,
            "required_capabilities" => request.required_capabilities, "deadline_at" => request.deadline&.to_f
          }.compact
        end

        # The ModelResponse for a Hash of the engine.
        def response(hash)
          ModelResponse.new(
            message: Message.build(hash["message"]), stop_reason: hash["stop_reason"], usage: EventBuilder.usage(hash["usage"]),
            metadata: hash["metadata"].transform_keys(&:to_sym).freeze
          )
        end

        # The Hash of +response+ for the engine.
        def plain_response(response)
          unless response.is_a?(ModelResponse)
            raise ArgumentError, "a response must be replaced by a LittleGhost::ModelResponse, got #{response.class}"
          end

          {
            "message" => response.message.to_h, "stop_reason" => response.stop_reason.name, "usage" => usage(response.usage),
            "metadata" => response.metadata.transform_keys(&:to_s)
          }
        end

        # The Hash of +result+ for the engine.
        def plain_result(result)
          unless result.is_a?(RunResult)
            raise ArgumentError, "a result must be replaced by a LittleGhost::RunResult, got #{result.class}"
          end

          {
            "message" => result.message&.to_h, "stop_reason" => result.stop_reason.name, "usage" => usage(result.usage),
            "messages" => messages(result.messages), "structured" => structured(result.structured_result)
          }
        end

        def messages(values)
          raise ArgumentError, "messages must be an Array of Messages, got #{values.class}" unless values.is_a?(Array)

          values.map { |message| Message.coerce(message).to_h }
        end

        # What a participant is asked: a text, or a whole message.
        def input(value)
          case value
          when String then Text.utf8(value)
          when Hash then Message.coerce(value).to_h
          when Message then value.to_h
          else Message.new(role: :user, content: value).to_h
          end
        end

        private

        def plain_tool(tool)
          return tool.to_h if tool.respond_to?(:to_h)
          raise ArgumentError, "a tool of a request is a Tool or a Hash, got #{tool.class}" unless tool.respond_to?(:tool_name)

          {"name" => tool.tool_name, "description" => tool.description, "input_schema" => tool.input_schema}
        end

        def tool_choice(value)
          value.is_a?(Hash) ? value.transform_keys(&:to_sym) : value&.to_sym
        end

        def usage(usage)
          usage.to_h.except(:total_tokens).transform_keys(&:name)
        end

        def structured(result)
          result && {"name" => result.schema_name, "value" => result.value}
        end
      end
    end
  end
end
