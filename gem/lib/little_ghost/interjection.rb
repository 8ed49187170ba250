# frozen_string_literal: true

module LittleGhost
  # A message for an agent that is at work, and the wait for what the model says to it.
  class Interjection # :nodoc:
    # What the model said: its +text+, whether it goes on with tool calls, and which interjections it answered.
    class Response < Data.define(:text, :tool_calls, :interjection_ids, :batch_key)
      alias_method :tool_calls?, :tool_calls
    end

    # Seconds between two looks at the cancellation of a caller that waits.
    SLICE = 0.05
    BLOCKS = [Content::Text, Content::Image, Content::Document].freeze
    private_constant :SLICE, :BLOCKS

    # +fields+ are the options of Run#interject.
    def initialize(message, cancellation_token:, deadline:, **fields)
      @message = user_message(message)
      @token = cancellation_token
      @deadline = deadline
      @fields = fields
    end

    # Delivers it through +handle+ and returns the Response.
    def deliver(handle)
      @token.raise_if_cancelled!
      ticket = handle.interject(plain)
      wait(ticket)
      build(ticket.take)
    ensure
      ticket&.withdraw
    end

    private

    def plain
      {
        "message" => @message.to_h, "deadline_at" => @deadline&.to_f,
        **@fields.transform_keys(&:name)
      }.compact
    end

    # Other threads and fibers go on meanwhile; the deadline is the engine's.
    def wait(ticket)
      io = IO.for_fd(ticket.fd, autoclose: false)
      @token.raise_if_cancelled! until io.wait_readable(SLICE)
    end

    def build(answer)
      Response.new(
        text: answer["text"], tool_calls: answer["tool_calls"] ? true : false,
        interjection_ids: answer["interjection_ids"].freeze, batch_key: answer["batch_key"]
      )
    end

    def user_message(value)
      message = value.is_a?(Message) ? value : Message.new(role: :user, content: value)
      message = Message.coerce(value) if value.is_a?(Hash) && (value.key?(:role) || value.key?("role"))
      return message if message.content.all? { |block| BLOCKS.any? { |type| type === block } }

      raise ArgumentError, "an interjection holds text, images and documents only"
    end
  end
end
