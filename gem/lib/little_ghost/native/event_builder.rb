# frozen_string_literal: true

module LittleGhost
  module Native
    # Turns the engine's plain Hashes into the value objects of one run's events.
    class EventBuilder # :nodoc:
      class << self
        def usage(hash)
          Usage.new(
            input_tokens: hash["input_tokens"], output_tokens: hash["output_tokens"],
            cache_read_tokens: hash["cache_read_tokens"], cache_write_tokens: hash["cache_write_tokens"],
            reasoning_tokens: hash["reasoning_tokens"]
          )
        end

        # The engine's decimal, exactly.
        def cost(text)
          text && Rational(text)
        end

        def run_result(hash, state)
          messages = hash["messages"].map { |message| Message.build(message) }
          message = hash["message"]
          message = message == hash["messages"].last ? messages.last : Message.build(message) unless message.nil?
          RunResult.new(
            message: message, stop_reason: hash["stop_reason"].to_sym, usage: usage(hash["usage"]),
            messages: messages.freeze, state: state, structured_result: structured_result(hash["structured"]),
            cost: cost(hash["cost"]), steps: (hash["steps"] || []).map { |step| Assembly::Step.build(step) }.freeze
          )
        end

        def structured_result(hash)
          StructuredResult.new(schema_name: hash["name"], value: DataMap.new(hash["value"])) if hash
        end
      end

      def initialize(run, exceptions)
        @run = run
        @exceptions = exceptions
        @response_hash = @response = nil
      end

      # The event for +type+ and its raw +data+, which is taken over.
      def build(type, data)
        case type
        when :tool_call_stop, :tool_start
          data[:tool_use] = Content.build(data[:tool_use])
        when :tool_stop
          data[:tool_use] = Content.build(data[:tool_use])
          data[:result] = Content.build(data[:result])
        when :usage
          data[:usage] = EventBuilder.usage(data[:usage])
        when :message_stop, :model_stop
          data[:response] = response(data[:response])
        when :invocation_stop
          data[:result] = @run.take_result(data[:result])
          data[:metadata] = data[:metadata].transform_keys(&:to_sym)
        when :assembly_step_start, :assembly_step_stop, :assembly_step_error, :assembly_step_retry, :assembly_transition,
          :assembly_handoff_loop, :assembly_fork, :assembly_join
          AssemblyEvent.fill(data)
        when :subagent
          data[:event] = data[:event].transform_keys(&:to_sym).freeze
        when :agent_stream
          AgentStream.build(data) { |inner, values| build(inner, values) }
        when :run_stop
          data[:result] = @run.result
        when :invocation_error
          data[:error] = @exceptions.fetch(data[:error])
          data[:usage] = EventBuilder.usage(data[:usage])
          data[:metadata] = data[:metadata].transform_keys(&:to_sym)
        when :run_partial, :run_cancel, :run_error
          data[:error] = @exceptions.fetch(data[:error])
        end
        StreamEvent.new(type, data.freeze)
      end

      private

      # The end of a message and the end of its model call mostly bring the same Hash.
      def response(hash)
        return @response if @response_hash.equal?(hash)

        @response_hash = hash
        @response = ModelResponse.new(
          message: Message.build(hash["message"]), stop_reason: hash["stop_reason"],
          usage: EventBuilder.usage(hash["usage"]), metadata: hash["metadata"].transform_keys(&:to_sym).freeze
        )
      end
    end
  end
end
