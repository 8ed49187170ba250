# frozen_string_literal: true

require_relative "cast"
require_relative "script"

module Conformance
  module Assembly
    # One run of such a case through the gem's public API.
    class Execution
      def initialize(test_case)
        @case = test_case
        @seen = Hash.new(0)
      end

      # What is wrong with the declarations, or nil.
      def refusal
        Cast.new(@case)[@case["ask"]].validate!
        nil
      rescue LittleGhost::Error, ArgumentError => error
        Shape.error(error)
      end

      def mermaid
        Cast.new(@case)[@case["ask"]].to_mermaid.lines.map(&:chomp)
      end

      def observe
        @scenario = ScriptedLLM.instance.script(*Script.exchanges(@case), unordered: true)
        assembly = Cast.new(@case)[@case["ask"]].new(runtime: LittleGhost::Runtime.new(configuration: configuration))
        prepare_session(assembly.runtime)
        @token = LittleGhost::Support::CancellationToken.new
        @notation = Notation.new(@case, {})
        events = []
        run = consume(assembly, events)
        {
          events: events, outcome: run.outcome, response: run.response, usage: Shape.plain(run.usage), error: Shape.error(run.error),
          output: run.result && Shape.plain(run.result.output), state: run.result && Shape.plain(run.result.state.to_h),
          result: run.result && Shape.plain(run.result), session: found_session(assembly.runtime), journal: journal, **steps(run)
        }
      end

      private

      def steps(run)
        trajectory = run.result&.trajectory or return {}
        {steps: Steps.new(trajectory).shorten, concurrent: ->(first, second) { Steps.new(trajectory).concurrent?(first, second) }}
      end

      def consume(assembly, events)
        leaves = @case["steps"].any? { |step| step["do"] == "break" }
        run = assembly.runtime.build_run(payload, entrypoint_class: assembly.class, cancellation_token: @token) if leaves
        ended = (run || assembly.stream_ask(payload, cancellation_token: @token)).each do |event|
          events << (event.type == :agent_stream ? wrapped(event.data) : [event.type.name, Shape.data(event)])
          break if follow(events.last) == :break
        end
        run || ended
      end

      # A participant's event with the way to it.
      def wrapped(data)
        source = data.fetch(:source)
        path = source.assembly_path.map { |step| [step.assembly_id, step.assembly_kind.name, step.participant, step.branch_id, step.step_id] }
        inner = data.fetch(:event)
        [inner.type.name, Shape.data(inner), {"agent_id" => source.agent_id, "path" => path, "input" => data[:input]&.text}]
      end

      def follow(event)
        note = @notation.note(*event) or return
        nth = @seen[note] += 1
        step = @case["steps"].find { |candidate| candidate["on"] == note && candidate.fetch("nth", 1) == nth } or return
        case step["do"]
        when "cancel" then @token.cancel
        when "break" then :break
        when Hash then @scenario.signal(step["do"].fetch("signal"))
        else raise "unknown step #{step}"
        end
      end

      def payload
        invocation = {"include_agent_events" => false}.merge(@case["invocation"])
        invocation.delete("include_agent_events") if invocation["include_agent_events"] == "default"
        invocation["deadline_at"] = Time.now + invocation["deadline_in"] if invocation["deadline_in"]
        invocation.except("deadline_in")
      end

      def configuration
        LittleGhost::Configuration.new(providers: {"scripted" => {
          "adapter" => "openai_compatible", "api" => "chat_completions", "base_url" => @scenario.base_url, "api_key" => "test-key"
        }})
      end

      def open_session(runtime)
        LittleGhost::Session.new(id: @case["invocation"]["session_id"], store: runtime.session_store)
      end

      def prepare_session(runtime)
        spec = @case["session"] or return
        messages = (spec["messages"] || []).map { |message| LittleGhost::Message.coerce(message) }
        open_session(runtime).replace(messages: messages, state: spec["state"] || {})
      end

      def found_session(runtime)
        return unless @case["expect"]["session"]

        snapshot = open_session(runtime).load or return {}
        {"messages" => snapshot[:messages].map(&:to_h), "state" => snapshot[:state], "metadata" => snapshot[:metadata]}
      end

      def journal
        broken = (@case["expect"]["broken_off"] || []).length
        broken.zero? ? @scenario.requests : @scenario.wait(disconnects: broken)
      end
    end
  end
end
