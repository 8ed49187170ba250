# frozen_string_literal: true

module LittleGhost
  module Instrumentation
    # Content of requests and answers, as the policy lets it through: <tt>diagnostic_input</tt> and the like.
    module Diagnostics # :nodoc:
      KEYS = %i[input output exception tool_definitions].freeze

      class << self
        # What +policy+ makes of +values+, a Hash with any of KEYS.
        def capture(policy, values)
          return {} if values.nil? || values.empty?

          policy.capture(values.to_h { |key, value| [key.to_sym, plain(value)] }).to_h do |key, text|
            [key.start_with?("diagnostic_") ? key.to_sym : :"diagnostic_#{key}", text]
          end
        end

        # What is known of an exception.
        def exception(error)
          {type: error.class.name.to_s, message: Native::Text.utf8(error.message.to_s), stacktrace: error.backtrace&.join("\n")}
        end

        private

        # Media are described, never shown.
        def plain(value)
          case value
          when Message then plain(value.to_h)
          when Content::Image, Content::Document then {"type" => kind(value), "media_type" => value.media_type, "bytes" => value.data.bytesize}
          when Content::Text, Content::Reasoning, Content::ToolUse, Content::ToolResult then plain(value.serialize)
          when Exception then exception(value)
          when Hash then media?(value) ? media(value) : value.transform_values { |nested| plain(nested) }
          when Array then value.map { |nested| plain(nested) }
          else value
          end
        end

        def kind(block)
          block.is_a?(Content::Image) ? "image" : "document"
        end

        def media?(hash)
          %w[image document].include?(hash["type"]) && hash["data"].is_a?(String)
        end

        def media(hash)
          {"type" => hash["type"], "media_type" => hash["media_type"], "bytes" => hash["data"].unpack1("m0").bytesize}
        end
      end
    end
  end
end
