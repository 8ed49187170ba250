# frozen_string_literal: true

module Conformance
  # What the events so far imply about the next ones.
  class Context
    COUNTERS = %w[input_tokens output_tokens cache_read_tokens cache_write_tokens reasoning_tokens].freeze

    attr_reader :turns, :response, :result, :messages

    def initialize(test_case)
      @agent = test_case["agent"]
      @target = test_case["expect"]["model"]["target"]
      invocation = test_case["invocation"]
      prompt = test_case.dig("agent", "system_prompt")
      message = invocation["message"]
      @messages = [
        (text("system", prompt) if prompt), *(test_case["session"] ? test_case["session"]["messages"] : invocation["history"]),
        message.is_a?(String) ? text("user", message) : message
      ].compact
      @turns = 0
      @total = [0] * 5
      @lost = [0] * 5
      @results = {}
      @response = {}
      reset
    end

    def advance(type, data)
      case type
      when "model_start"
        @turns += 1
        answer_calls
        reset
        @lost = [0] * 5
      when "message_start"
        reset
        @started = data
      when "model_retry"
        @lost = add(@lost, @usage)
        @usage = self.class.usage([0] * 5)
      when "text_delta" then @text += data["text"]
      when "reasoning_delta" then @reasoning += data["text"]
      when "tool_call_stop" then @calls << data["tool_use"]
      when "usage" then @usage = data["usage"]
      when "message_stop"
        @response = data["response"]
        @total = add(@total, @response["usage"])
        @lost = [0] * 5
        @usage = self.class.usage([0] * 5)
        @messages += [kept(@response["message"])]
      when "tool_stop" then @results[data["result"]["tool_use_id"]] = data["result"]
      when "invocation_stop" then @result = data["result"]
      end
    end

    # In the conversation, a message with reasoning says which model it came from.
    def kept(message)
      return message unless message["content"].any? { |block| block["type"] == "reasoning" }

      message.merge("metadata" => message["metadata"].merge("little_ghost_model" => @target))
    end

    # Usage so far, with that of the message in progress and of attempts at it.
    def total
      add(add(@total, self.class.usage(@lost)), @usage)
    end

    def implied_response(stop_reason)
      content = []
      content << {"type" => "reasoning", "text" => @reasoning} unless @reasoning.empty?
      content << {"type" => "text", "text" => @text} unless @text.empty?
      {"message" => {"role" => "assistant", "content" => content + @calls, "metadata" => {}},
       "stop_reason" => stop_reason, "usage" => self.class.usage(add(@lost, @usage)), "metadata" => @started}
    end

    # The call with that id in the last response.
    def call(id)
      calls.find { |block| block["id"] == id }
    end

    # The text of a serialised message.
    def self.text(message)
      message["content"].filter_map { |block| block["text"] if block["type"] == "text" }.join
    end

    # The name of the structured result.
    def result_name
      @agent.dig("result_schema", "name") || "#{@agent["id"]}_result"
    end

    # The message that stands for a structured result in events.
    def placeholder
      text("assistant", "[structured result #{result_name.inspect} redacted]")
    end

    def self.usage(counts)
      COUNTERS.zip(counts).to_h.merge("total_tokens" => counts.sum)
    end

    private

    def add(counts, usage)
      counts.zip(COUNTERS).map { |sum, counter| sum + usage[counter] }
    end

    def calls
      (@response.dig("message", "content") || []).select { |block| block["type"] == "tool_use" }
    end

    def answer_calls
      return if @results.empty?

      content = calls.map { |call| @results[call["id"]] }
      @messages += [{"role" => "tool", "content" => content, "metadata" => {}}]
      @results = {}
    end

    def reset
      @text = +""
      @reasoning = +""
      @calls = []
      @usage = self.class.usage([0] * 5)
    end

    def text(role, text)
      {"role" => role, "content" => [{"type" => "text", "text" => text}], "metadata" => {}}
    end
  end
end
