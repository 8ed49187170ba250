# frozen_string_literal: true

require "json"
require "little_ghost/testing"
require_relative "mask"

module Conformance
  # A case about subagents; tests/conformance/README.md says what it may hold.
  class Subagents
    FILE = File.expand_path("../../../tests/conformance/subagents/subagents.json", __dir__)
    EXPECTATIONS = %w[response answers events requests settings tools usage omits].freeze
    private_constant :FILE, :EXPECTATIONS

    def self.cases
      JSON.parse(File.read(FILE))
    end

    def initialize(spec)
      @spec = spec
      @models = {}
      @events = []
    end

    # Every way in which the case did not go as it should.
    def differences
      unknown = @spec["expect"].keys - EXPECTATIONS
      raise "unknown expectations: #{unknown.join(", ")}" unless unknown.empty?

      observed = observe
      @spec["expect"].filter_map do |name, expected|
        next ("omits: #{expected}" if expected.any? { |secret| observed.to_s.include?(secret) }) if name == "omits"
        next if fits?(expected, observed.fetch(name))

        "#{name}\n  expected #{expected.to_json}\n  but was  #{observed[name].to_json}"
      end
    end

    private

    def observe
      agent = agent("lead", @spec, @spec["limits"] || {}).new(runtime: LittleGhost::Runtime.new(configuration: LittleGhost::Configuration.new))
      run = Array.new(@spec["runs"] || 1) { ask(agent) }.last
      {
        "response" => run.error ? run.error.message : run.response, "answers" => answers, "events" => @events,
        "requests" => @models.transform_values { |model| model.requests.map { |request| texts(request) } },
        "settings" => @models.transform_values { |model| model.requests.first&.settings.to_h.transform_keys(&:to_s) },
        "tools" => @models.transform_values { |model| model.requests.first&.tools.to_a.map { |tool| tool["name"] || tool[:name] } },
        "usage" => [run.usage.input_tokens, run.usage.output_tokens]
      }
    end

    def ask(agent)
      agent.stream_ask("Go", session_id: "conversation", settings: @spec["settings"] || {}).each do |event|
        note(event.data[:event]) if event.type == :subagent
      end
    end

    def note(event)
      @events << [event[:event], event[:status], event[:subagent_id], event[:turn], event[:tool_name], event[:error_type]].compact.join(" ")
    end

    def agent(id, spec, limits = {})
      scripted = @models[id] = LittleGhost::Testing::ScriptedModel.new(*spec["turns"])
      kinds = spec.fetch("kinds", []).map { |kind| [kind, agent(kind["kind"], kind)] }
      tools = spec.fetch("tools", []).map { |tool| LittleGhost::Tool.define(name: tool["name"], description: "A tool.") { tool["return"] } }
      Class.new(LittleGhost::Agent) do
        agent_id id
        system_prompt ""
        model scripted
        tools(*tools)
        result_schema(spec["result_schema"]) if spec["result_schema"]
        kinds.each { |kind, found| subagent found, kind: kind["kind"], persist: kind.fetch("persist", true) }
        # Limits are the manager's own; agents only say how long they wait.
        define_method(:subagent_limits) { super().merge(limits) }
        private :subagent_limits
      end
    end

    def texts(request)
      request.messages.reject { |message| message.role == :system }.map do |message|
        message.role == :tool ? message.content.map(&:content).join : message.text
      end
    end

    # The results of the lead's tools.
    def answers
      results = @models["lead"].requests.last.messages.flat_map(&:content).grep(LittleGhost::Content::ToolResult)
      results.map { |result| parsed(result.content) }
    end

    def parsed(text)
      JSON.parse(text)
    rescue JSON::ParserError
      text
    end

    # Of an object, only the keys that are expected matter.
    def fits?(expected, actual)
      return Mask.match?(expected, actual) unless expected.is_a?(Array) || (expected.is_a?(Hash) && expected.keys.none? { |key| key.start_with?("$") })
      return actual.is_a?(Array) && expected.length == actual.length && expected.zip(actual).all? { |pair| fits?(*pair) } if expected.is_a?(Array)

      actual.is_a?(Hash) && expected.all? { |key, value| (actual.key?(key) || value.nil?) && fits?(value, actual[key]) }
    end
  end
end
