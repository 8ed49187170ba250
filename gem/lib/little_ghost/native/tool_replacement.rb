# frozen_string_literal: true

require "json"

module LittleGhost
  module Native
    # What an after_tool callback puts in the place of a result, as the engine takes it.
    module ToolReplacement # :nodoc:
      class << self
        # +result+ may be the outcome with something changed, a Hash with +value+, +content+ or +status+, or any
        # value as a tool returns it.
        def plain(result, before)
          case result
          when Tool::Outcome then outcome(result, before)
          when Hash then hash(result)
          when Tool::Result then {"value" => value(result.value), "status" => "success"}
          else {"value" => value(result), "status" => "success"}
          end
        end

        private

        def outcome(result, before)
          plain = {"status" => result.status.to_s}
          return plain.merge("value" => value(result.value)) if result.content == before.content && result.value != before.value

          plain.merge("content" => content(result.content))
        end

        def hash(result)
          known = result.transform_keys(&:to_s).slice("value", "content", "status")
          raise ArgumentError, "the result of a tool is replaced by a Hash with value, content or status" if known.empty?

          known["value"] = value(known["value"]) if known.key?("value")
          known["content"] = content(known["content"]) if known.key?("content")
          known["status"] = known["status"].to_s if known.key?("status")
          known
        end

        def content(content)
          content.is_a?(Array) ? content.map { |block| Content.serialize(Content.normalize(block)) } : Text.utf8(content.to_s)
        end

        def value(value)
          plain = ToolValue.plain(value)
          plain.is_a?(Hash) || plain.is_a?(Array) ? JSON.parse(ToolValue.json(plain)) : plain
        end
      end
    end
  end
end
