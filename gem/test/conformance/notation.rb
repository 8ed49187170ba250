# frozen_string_literal: true

require_relative "context"

module Conformance
  # Events in the short notation of the cases: an event whose data is what the case and the
  # earlier events imply is written short, any other in full.
  class Notation
    DELTAS = %w[text_delta reasoning_delta].freeze
    PLAIN = {"tool_call_start" => %w[index id name], "tool_call_delta" => %w[index arguments]}.freeze

    def initialize(test_case, observation)
      @case = test_case
      @error = observation[:error]
      @context = Context.new(test_case)
    end

    def shorten(events)
      events.each_with_object([]) do |(type, data), list|
        entry = short(type, data) || {"type" => type, "data" => data}
        @context.advance(type, data)
        list << entry unless joined?(list.last, entry)
      end
    end

    # Token counts without the zeros at the end; +usage+ itself when they are not consistent.
    def self.counts(usage)
      counts = usage.values_at(*Context::COUNTERS)
      return usage unless usage == Context.usage(counts)

      counts.pop while counts.last == 0
      counts
    end

    private

    def short(type, data)
      case type
      when "run_start"
        run_id = data["run_id"].to_s
        thread = @case["invocation"]["session_id"] || run_id
        bare(type, !run_id.empty? && data == {"run_id" => run_id, "thread_id" => thread})
      when "invocation_start" then bare(type, data == {"agent_id" => @case["agent"]["id"]})
      when "model_start" then bare(type, data == {"turn" => @context.turns})
      when "message_start"
        id = @case["provider"]["api"] == "responses" ? "resp_1" : "chatcmpl-1"
        bare(type, data == {"id" => id, "model" => "scripted-model"}) || values(type, data, %w[id model])
      when *DELTAS then data.keys == ["text"] ? {type => data["text"]} : nil
      when *PLAIN.keys then values(type, data, PLAIN[type])
      when "tool_call_stop"
        call = data["tool_use"]
        fits = data.keys.sort == %w[index tool_use] && call.keys.sort == %w[id input name type]
        {type => [data["index"], *call.values_at("id", "name", "input")]} if fits && call["type"] == "tool_use"
      when "usage"
        counts = self.class.counts(data["usage"])
        {type => counts} if data.keys == ["usage"] && counts.is_a?(Array)
      else agent_event(type, data) || ending(type, data)
      end
    end

    def agent_event(type, data)
      case type
      when "message_stop"
        response = data["response"]
        return unless data.keys == ["response"]

        reason = response["stop_reason"]
        implied = @context.implied_response(reason)
        return {type => reason} if response == implied

        {type => response == implied.merge("message" => @context.placeholder) ? [reason, "redacted"] : response}
      when "model_stop" then bare(type, data == {"turn" => @context.turns - 1, "response" => @context.response})
      when "model_retry" then {type => data}
      when "tool_start"
        call = @context.call(data.dig("tool_use", "id"))
        {type => call["id"]} if call && data == {"tool_use" => call}
      when "tool_stop"
        call = @context.call(data.dig("tool_use", "id")) or return
        status, content = data["result"].values_at("status", "content")
        result = {"type" => "tool_result", "tool_use_id" => call["id"], "content" => content, "status" => status}
        {type => [call["id"], status, content]} if data == {"tool_use" => call, "result" => result}
      when "invocation_stop"
        return structured(type, data) if data.dig("result", "structured")

        result = {
          "message" => @context.response["message"], "stop_reason" => @context.response["stop_reason"],
          "usage" => Context.usage(@context.total), "messages" => @context.messages
        }
        bare(type, data.keys.sort == %w[metadata result] && data["result"] == result && model?(data["metadata"]))
      end
    end

    # The end of an invocation with a structured result, whose message is the result as text.
    def structured(type, data)
      result, metadata = data.values_at("result", "metadata")
      message, messages = result.values_at("message", "messages")
      value = result.dig("structured", "value")
      expected = {
        "message" => message, "stop_reason" => "structured_result", "usage" => Context.usage(@context.total),
        "messages" => messages, "structured" => {"name" => @context.result_name, "value" => value}
      }
      fits = result == expected && messages.last == message && JSON.parse(Context.text(message)) == value && model?(metadata)
      {type => value} if fits
    end

    def ending(type, data)
      error = {"error" => @error}
      case type
      when "run_stop"
        expected = {"outcome" => "completed", "response" => Context.text(@context.result["message"]), "result" => @context.result}
        bare(type, data == expected)
      when "invocation_error"
        fits = data.keys.sort == %w[error metadata usage] && data["error"] == @error &&
          data["usage"] == Context.usage(@context.total) && model?(data["metadata"])
        {type => @error["class"]} if fits
      when "run_error"
        expected = {"outcome" => "failed", "message" => data["message"], "cleanup_failed" => false, **error}
        {type => [@error["class"], data["message"]]} if data == expected
      when "run_cancel"
        expected = {"outcome" => "cancelled", "response" => "", **error}
        bare(type, @error && @error["class"] == "CancelledError" && data == expected)
      when "run_partial"
        expected = {"outcome" => "partial", "response" => data["response"], **error}
        {type => data["response"]} if @error && @error["class"] == "DeadlineExceededError" && data == expected
      end
    end

    def model?(metadata)
      facts = @case["expect"]["model"]
      metadata["target"] == facts["target"] && metadata.key?("model_role") && metadata["model_role"] == facts["role"] &&
        metadata["provenance"].is_a?(Hash) && metadata.key?("observed_at")
    end

    def bare(type, fits)
      type if fits
    end

    def values(type, data, keys)
      {type => data.values_at(*keys)} if data.keys.sort == keys.sort
    end

    # Adds a delta to the entry before it, if that is of the same kind and place.
    def joined?(last, entry)
      return false unless last.is_a?(Hash) && entry.is_a?(Hash) && last.size == 1

      type = entry.keys.first
      return false unless last.key?(type)

      if DELTAS.include?(type)
        last[type] = [*last[type], entry[type]]
      elsif type == "tool_call_delta" && last[type].first == entry[type].first
        last[type] += entry[type].drop(1)
      end
    end
  end
end
