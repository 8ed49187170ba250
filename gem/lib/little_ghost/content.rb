# frozen_string_literal: true

module LittleGhost
  # The blocks that messages are made of: text, attachments, tool calls, tool results and
  # reasoning.
  #
  #   block = LittleGhost::Content::Text.new(text: "Hello")
  #   LittleGhost::Content.normalize("Hello") == block # => true
  #
  # Every block has a JSON-safe form, in which bytes are strict base64.
  module Content
    autoload :Document, "little_ghost/content/document"
    autoload :Image, "little_ghost/content/image"
    autoload :Reasoning, "little_ghost/content/reasoning"
    autoload :Text, "little_ghost/content/text"
    autoload :ToolResult, "little_ghost/content/tool_result"
    autoload :ToolUse, "little_ghost/content/tool_use"

    extend self

    # Rebuilds a block from its serialized Hash, with String or Symbol keys. Without
    # <tt>encoding: "base64"</tt>, +data+ is taken as the bytes themselves.
    def from_hash(value)
      raise ArgumentError, "content: expected a Hash, got #{value.class}" unless value.is_a?(Hash)

      hash = value.transform_keys(&:to_s)
      hash["type"] = hash["type"].to_s
      if hash["data"].is_a?(String) && hash["encoding"].nil?
        hash["data"] = [hash["data"]].pack("m0")
        hash["encoding"] = "base64"
      end
      hash["content"] = hash["content"].map { |block| serialize(normalize(block)) } if hash["content"].is_a?(Array)
      hash["status"] = hash["status"].to_s if hash["status"].is_a?(Symbol)
      Native.check_content(hash)
      build(hash)
    end

    # Takes a block, a String or a serialized Hash.
    def normalize(value)
      case value
      when Text, Image, Document, Reasoning, ToolUse, ToolResult then value
      when String then Text.new(text: value)
      when Hash then from_hash(value)
      else raise ArgumentError, "content: expected a block, a String or a Hash, got #{value.class}"
      end
    end

    # The JSON-safe Hash of +block+, with String keys.
    def serialize(block)
      case block
      when Text, Image, Document, Reasoning, ToolUse, ToolResult then block.serialize
      else raise ArgumentError, "content: expected a block, got #{block.class}"
      end
    end

    # A block from a Hash that the engine made or checked.
    def build(hash) # :nodoc:
      case hash["type"]
      when "text" then Text.new(text: hash["text"])
      when "tool_use" then ToolUse.new(id: hash["id"], name: hash["name"], input: hash["input"])
      when "tool_result" then ToolResult.load(hash)
      when "reasoning" then Reasoning.load(hash)
      when "image" then Image.new(data: bytes(hash), media_type: hash["media_type"], name: hash["name"])
      when "document" then Document.new(data: bytes(hash), media_type: hash["media_type"], name: hash["name"])
      else raise ArgumentError, "content: unknown type #{hash["type"].inspect}"
      end
    end

    def bytes(hash) # :nodoc:
      hash["data"]&.unpack1("m0")
    end
  end
end
