# frozen_string_literal: true

require "json"
require_relative "execution"
require_relative "mask"
require_relative "notation"

# The conformance suite, described in tests/conformance/README.md.
module Conformance
  FOLDER = File.expand_path("../../../tests/conformance", __dir__)

  # Every field that a case may have, by the place where it stands.
  FIELDS = {
    "case" => %w[name about provider models default_model agent session invocation exchanges steps expect],
    "agent" => %w[id model system_prompt tools limits result_schema context_management tool_loop],
    "tool" => %w[name description input_schema exclusive behaviour],
    "invocation" => %w[message history settings context run_id session_id actor_id deadline_in],
    "session" => %w[messages state actor_id],
    "step" => %w[on nth do],
    "expect" => %w[events requests outcome response usage cost error raises state session output model may_refuse_early],
    "request" => %w[path headers body body_includes disconnected],
    "error" => %w[class message_contains message_omits status]
  }.freeze

  class << self
    # Every case of one agent, with its defaults filled in.
    def cases
      found = Dir[File.join(FOLDER, "*.json")].sort.flat_map { |file| JSON.parse(File.read(file)) }
      found.reject { |test_case| test_case.key?("ask") }.map { |test_case| complete(test_case) }
    end

    # What a tool has unless its case says otherwise.
    def tool_defaults
      {"description" => "A tool of the test.", "input_schema" => {}, "exclusive" => false}
    end

    # Every way in which the case did not go as it should; empty when it did.
    def differences(test_case)
      observation = Execution.new(test_case).observe
      expect = test_case["expect"]
      return refusal(expect, observation) if expect["may_refuse_early"] && observation[:refused]

      [
        error("raised", expect["raises"], observation[:raised]),
        *(outcome(expect, observation) unless expect["raises"]),
        events(test_case, observation),
        *requests(expect["requests"], observation[:journal])
      ].compact
    end

    private

    def complete(test_case)
      known("case", test_case)
      agent = {"id" => "support", "model" => "scripted:scripted-model", "tools" => [], "limits" => {}}
      agent.merge!(known("agent", test_case["agent"] || {}))
      agent["tools"] = agent["tools"].map { |spec| tool_defaults.merge(known("tool", spec)) }
      expect = {"model" => {"target" => "scripted:scripted-model", "role" => nil}, "usage" => [], "response" => "", "events" => []}
      expect.merge!(known("expect", test_case["expect"]))
      Array(expect["requests"].is_a?(Array) && expect["requests"]).each { |spec| known("request", spec) if spec }
      expect.values_at("error", "raises").compact.each { |spec| known("error", spec) }
      known("session", test_case["session"] || {})
      invocation = {"message" => nil, "history" => []}.merge(known("invocation", test_case["invocation"]))
      steps = (test_case["steps"] || []).map { |step| {"nth" => 1}.merge(known("step", step)) }
      {"provider" => {}, "exchanges" => []}.merge(
        test_case, "agent" => agent, "expect" => expect, "invocation" => invocation, "steps" => steps
      )
    end

    def known(place, hash)
      unknown = hash.keys - FIELDS.fetch(place)
      raise "unknown fields of #{place}: #{unknown.join(", ")}" unless unknown.empty?

      hash
    end

    def refusal(expect, observation)
      raised = observation[:raised]
      raised = raised.merge("class" => expect["error"]["class"]) if raised["class"] == "ConfigurationError"
      [error("refused", expect["error"], raised)].compact
    end

    def outcome(expect, observation)
      [
        same("outcome", expect["outcome"], observation[:outcome]),
        error("error", expect["error"], observation[:error]),
        same("response", expect["response"], observation[:response]),
        same("usage", expect["usage"], Notation.counts(observation[:usage])),
        (same("cost", expect["cost"] && Rational(expect["cost"]).to_s, observation[:cost]) if expect.key?("cost")),
        *expect["session"]&.map { |key, value| same("session #{key}", value, (observation[:session] || {})[key]) },
        (same("output", expect["output"], observation[:output]) if expect.key?("output")),
        (same("state", expect["state"], observation[:state]) if expect.key?("state"))
      ]
    end

    def same(what, expected, actual)
      "#{what}\n  expected #{expected.to_json}\n  but was  #{actual.to_json}" unless Mask.match?(expected, actual)
    end

    def error(what, spec, actual)
      return if spec.nil? && actual.nil?

      if spec && actual
        text = actual["message"].downcase
        fits = actual["class"] == spec["class"] && (spec["status"].nil? || actual["status"] == spec["status"]) &&
          Array(spec["message_contains"]).all? { |part| text.include?(part.downcase) } &&
          Array(spec["message_omits"]).none? { |part| text.include?(part.downcase) }
        return if fits
      end
      "#{what}\n  expected #{spec.to_json}\n  but was  #{actual.to_json}"
    end

    def events(test_case, observation)
      actual = Notation.new(test_case, observation).shorten(observation[:events])
      expected = test_case["expect"]["events"]
      return if Mask.match?(expected, actual)

      lines = ->(list) { list.map { |entry| "\n    #{entry.to_json}," }.join }
      "events\n  expected#{lines.(expected)}\n  but were#{lines.(actual)}"
    end

    def requests(expected, journal)
      count = expected.is_a?(Array) ? expected.size : expected
      return ["requests\n  expected #{count}\n  but were #{journal.to_json}"] unless journal.size == count

      misfits = journal.filter_map { |entry| entry["error"] && "the script does not fit: #{entry["error"]}" }
      return misfits unless expected.is_a?(Array)

      misfits + expected.zip(journal).each_with_index.flat_map { |(spec, entry), place| request(place, spec, entry) }.compact
    end

    def request(place, spec, entry)
      [
        (same("request #{place} path", spec["path"], entry["path"]) if spec["path"]),
        *spec["headers"]&.map { |name, value| same("request #{place} header #{name}", value, entry["headers"][name]) },
        (same("request #{place} body", spec["body"], entry["body"]) if spec["body"]),
        *spec["body_includes"]&.map { |key, value| same("request #{place} body.#{key}", value, entry["body"][key]) },
        ("request #{place} was not broken off" if spec["disconnected"] && entry["disconnected_ms"].nil?)
      ]
    end
  end
end
