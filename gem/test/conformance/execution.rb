# frozen_string_literal: true

require_relative "shape"
require_relative "toolbox"

module Conformance
  # One run of a case through the gem's public API.
  class Execution
    def initialize(test_case)
      @case = test_case
      @seen = Hash.new(0)
    end

    # What there was to see: +events+, +outcome+, +response+, +usage+, +error+, +state+, +journal+; or +raised+.
    def observe
      @scenario = ScriptedLLM.instance.script(*@case["exchanges"])
      observation = {events: []}
      begin
        agent = build_agent
      rescue LittleGhost::Error, ArgumentError => error
        observation.merge!(raised: Shape.error(error), refused: true)
      else
        prepare_session(agent.runtime)
        run(agent, observation)
        observation[:session] = found_session(agent.runtime)
      end
      observation[:journal] = journal
      observation
    end

    private

    def run(agent, observation)
      @token = LittleGhost::Support::CancellationToken.new
      run = consume(agent, observation[:events])
      observation.merge!(
        outcome: run.outcome, response: run.response, usage: Shape.plain(run.usage), cost: run.cost&.to_s,
        error: Shape.error(run.error), output: run.result && Shape.plain(run.result.output), state: run.result && Shape.plain(run.result.state.to_h)
      )
    rescue LittleGhost::Error, ArgumentError => error
      observation[:raised] = Shape.error(error)
    end

    def open_session(runtime)
      LittleGhost::Session.new(
        id: @case["invocation"]["session_id"], store: runtime.session_store, actor_id: @case.dig("session", "actor_id")
      )
    end

    # Writes what the store has before the run.
    def prepare_session(runtime)
      spec = @case["session"] or return
      messages = (spec["messages"] || []).map { |message| LittleGhost::Message.coerce(message) }
      open_session(runtime).replace(messages: messages, state: spec["state"] || {})
    end

    # What the store has after the run.
    def found_session(runtime)
      return unless @case["expect"]["session"]

      snapshot = open_session(runtime).load or return {}
      {"messages" => snapshot[:messages].map(&:to_h), "state" => snapshot[:state], "metadata" => snapshot[:metadata]}
    end

    def consume(agent, events)
      # Whoever leaves a stream_ask early gets no run from it, so such a run is built first.
      leaves = @case["steps"].any? { |step| step["do"] == "break" }
      run = agent.runtime.build_run(payload, entrypoint_class: agent.class, cancellation_token: @token) if leaves
      ended = (run || agent.stream_ask(payload, cancellation_token: @token)).each do |event|
        events << [event.type.name, Shape.data(event)]
        break if follow(event.type.name) == :break
      end
      run || ended
    end

    # Does what the consumer does when it has seen an event of +type+.
    def follow(type)
      nth = @seen[type] += 1
      step = @case["steps"].find { |candidate| candidate["on"] == type && candidate["nth"] == nth } or return
      case step["do"]
      when "cancel" then @token.cancel
      when "break" then :break
      when Hash then @scenario.signal(step["do"].fetch("signal"))
      else raise "unknown step #{step}"
      end
    end

    def payload
      invocation = @case["invocation"]
      payload = invocation.except("deadline_in")
      payload["deadline_at"] = Time.now + invocation["deadline_in"] if invocation["deadline_in"]
      payload
    end

    def build_agent
      spec = @case["agent"]
      box = Toolbox.new
      tools = spec["tools"].map { |tool| box.tool(tool) }
      declaration = Class.new(LittleGhost::Agent) do
        agent_id spec["id"]
        model spec["model"]
        # Without instructions there is no system message; a class without a declaration looks for a file.
        system_prompt spec["system_prompt"] || ""
        tools(*tools)
        limits(**spec["limits"].transform_keys(&:to_sym))
        result_schema(spec["result_schema"]["schema"], **spec["result_schema"].except("schema").transform_keys(&:to_sym)) if spec["result_schema"]
        manage_context(**spec["context_management"].transform_keys(&:to_sym)) if spec["context_management"]
        detect_tool_loops(**spec["tool_loop"].transform_keys(&:to_sym)) if spec["tool_loop"]
      end
      declaration.new(runtime: LittleGhost::Runtime.new(configuration: configuration))
    end

    def configuration
      connection = {"adapter" => "openai_compatible", "base_url" => @scenario.base_url, "api_key" => "test-key"}
      connection = connection.merge(@case["provider"]).compact.transform_values { |value| value == "$base_url" ? @scenario.base_url : value }
      settings = {providers: {"scripted" => connection}}
      settings[:models] = @case["models"] if @case["models"]
      settings[:default_model] = @case["default_model"] if @case["default_model"]
      LittleGhost::Configuration.new(settings)
    end

    def journal
      requests = @case["expect"]["requests"]
      count = requests.is_a?(Array) ? requests.count { |spec| spec["disconnected"] } : 0
      count.zero? ? @scenario.requests : @scenario.wait(disconnects: count)
    end
  end
end
