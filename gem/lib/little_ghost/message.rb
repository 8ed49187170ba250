# frozen_string_literal: true

module LittleGhost
  # One participant's contribution to a conversation.
  #
  #   message = LittleGhost::Message.new(role: :user, content: "Hello")
  #   message.text # => "Hello"
  #
  # +content+ is a frozen Array of Content blocks; a String, a single block or a serialized Hash is
  # wrapped. +metadata+ is a frozen DataMap. Values that the caller supplied are kept, not copied.
  class Message
    # Roles that a message may have.
    ROLES = %i[system developer user assistant tool].freeze
    MISSING = Object.new.freeze
    private_constant :MISSING

    # Who speaks, one of ROLES.
    attr_reader :role
    # Frozen Array of Content blocks.
    attr_reader :content
    # Frozen DataMap of application data.
    attr_reader :metadata

    NO_METADATA = DataMap.new.freeze
    private_constant :NO_METADATA

    # +value+ itself when it is a Message, else a message from a Hash with String or Symbol keys.
    def self.coerce(value)
      return value if value.is_a?(self)
      raise ArgumentError, "message: expected a Message or a Hash, got #{value.class}" unless value.is_a?(Hash)

      role = MISSING
      content = metadata = nil
      value.each_pair do |key, item|
        case key.is_a?(Symbol) ? key.name : key.to_s
        when "role" then role = item
        when "content" then content = item
        when "metadata" then metadata = item
        else raise ArgumentError, unknown_key(key.to_s)
        end
      end
      raise ArgumentError, "message: role is missing" if MISSING.equal?(role)

      new(role: role, content: content, metadata: metadata)
    end

    def self.unknown_key(key)
      "message: unknown key #{key.inspect}; a message has role, content and metadata, " \
        "and tool calls and results are content blocks of type tool_use and tool_result"
    end
    private_class_method :unknown_key

    # A message from a Hash that the engine made.
    def self.build(hash) # :nodoc:
      new(role: hash["role"], content: hash["content"].map { |block| Content.build(block) }, metadata: hash["metadata"])
    end

    def initialize(role:, content:, metadata: {})
      @role = role.respond_to?(:to_sym) ? role.to_sym : role
      unless ROLES.include?(@role)
        raise ArgumentError, "message: role must be one of #{ROLES.join(", ")}, got #{role.inspect}"
      end

      @content = blocks(content).freeze
      @metadata = metadata.nil? || metadata.empty? ? NO_METADATA : DataMap.new(metadata).freeze
      freeze
    end

    # The text blocks, joined; reasoning and tool content are left out.
    def text
      @content.filter_map { |block| block.text if block.is_a?(Content::Text) }.join
    end

    # The JSON-safe form, with String keys.
    def to_h
      {
        "role" => role.name,
        "content" => content.map { |block| Content.serialize(block) },
        "metadata" => metadata.to_h
      }
    end

    # The shortest form that the engine reads.
    def to_engine # :nodoc:
      block = content.first
      return to_h unless content.length == 1 && block.is_a?(Content::Text) && metadata.empty?

      {"role" => role.name, "content" => block.text}
    end

    # #to_h as JSON text.
    def to_json(*arguments)
      require "json"
      to_h.to_json(*arguments)
    end

    # The message without reasoning blocks; +self+ when it has none.
    def without_reasoning
      kept = content.reject { |block| block.is_a?(Content::Reasoning) }
      return self if kept.length == content.length

      self.class.new(role: role, content: kept, metadata: metadata)
    end

    private

    def blocks(content)
      case content
      when nil then []
      when Array then content.map { |block| Content.normalize(block) }
      else [Content.normalize(content)]
      end
    end
  end
end
