# frozen_string_literal: true

module LittleGhost
  module Content
    # What the model reads as the answer to one ToolUse. +content+ is a String or an Array of blocks;
    # +status+ is +:success+ or +:error+.
    class ToolResult < Data.define(:tool_use_id, :content, :status)
      STATUSES = %i[success error].freeze
      private_constant :STATUSES

      def initialize(tool_use_id:, content:, status:)
        id = tool_use_id.nil? ? "" : tool_use_id.to_s
        raise ArgumentError, "tool_result: tool_use_id is empty" if id.empty?

        status = status.to_sym if status.respond_to?(:to_sym)
        unless STATUSES.include?(status)
          raise ArgumentError, "tool_result: status must be :success or :error, got #{status.inspect}"
        end

        super(tool_use_id: id, content: content, status: status)
      end

      def self.load(hash) # :nodoc:
        content = hash["content"]
        content = content.map { |block| Content.build(block) } if content.is_a?(Array)
        new(tool_use_id: hash["tool_use_id"], content: content, status: hash["status"])
      end

      def serialize # :nodoc:
        blocks = content.is_a?(Array) ? content.map { |block| Content.serialize(Content.normalize(block)) } : content.to_s
        {"type" => "tool_result", "tool_use_id" => tool_use_id, "content" => blocks, "status" => status.name}
      end
    end
  end
end
