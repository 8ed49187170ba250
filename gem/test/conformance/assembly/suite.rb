# frozen_string_literal: true

require_relative "../suite"
require_relative "execution"
require_relative "notation"
require_relative "steps"

module Conformance
  # Cases in which several agents answer together, described in tests/conformance/ASSEMBLIES.md.
  module Assembly
    # Every field that a case may have, by the place where it stands.
    FIELDS = {
      "case" => %w[name about only agents assemblies ask session invocation answers steps expect],
      "invocation" => %w[message history settings context session_id deadline_in include_agent_events],
      "expect" => %w[invalid mermaid events agents requests bodies broken_off outcome response output usage error steps
        concurrent session state]
    }.freeze

    class << self
      def cases
        Dir[File.join(FOLDER, "*.json")].sort.flat_map { |file| JSON.parse(File.read(file)) }.select { |found| found.key?("ask") }
          .map { |found| checked(found) }
      end

      # Every way in which the case did not go as it should; empty when it did.
      def differences(test_case)
        expect = test_case["expect"]
        execution = Execution.new(test_case)
        return invalid(expect["invalid"], execution.refusal) if expect["invalid"]

        found = (expect.key?("mermaid") ? [same("mermaid", expect["mermaid"], execution.mermaid)] : [])
        return found.compact unless test_case["invocation"]

        seen = execution.observe
        (found + run(test_case, seen) + asked(expect, seen[:journal])).compact
      end

      private

      def checked(test_case)
        {"case" => test_case, "invocation" => test_case["invocation"] || {}, "expect" => test_case["expect"]}.each do |place, hash|
          unknown = hash.keys - FIELDS.fetch(place)
          raise "unknown fields of #{place} #{test_case["name"]}: #{unknown.join(", ")}" unless unknown.empty?
        end
        {"agents" => {}, "assemblies" => {}, "answers" => {}, "steps" => []}.merge(test_case)
      end

      def invalid(expected, refusal)
        [Conformance.send(:error, "refused", expected, refusal)].compact
      end

      def run(test_case, seen)
        expect = test_case["expect"]
        notation = Notation.new(test_case, seen)
        events = notation.shorten(seen[:events])
        [
          *listed("events", expect["events"], events[:own]),
          *listed("agents", expect["agents"] || {}, events[:agents]),
          same("outcome", expect["outcome"], seen[:outcome]),
          same("response", expect["response"] || "", seen[:response]),
          same("usage", expect["usage"] || [], Conformance::Notation.counts(seen[:usage])),
          Conformance.send(:error, "error", expect["error"], seen[:error]),
          (same("output", expect["output"], seen[:output]) if expect.key?("output")),
          (same("state", expect["state"], seen[:state]) if expect.key?("state")),
          *listed("steps", expect["steps"] || [], seen[:steps] || []),
          *expect["concurrent"]&.map { |first, second, fits| same("#{first} beside #{second}", fits, seen[:concurrent].(first, second)) },
          *expect["session"]&.map { |key, value| same("session #{key}", value, (seen[:session] || {})[key]) }
        ]
      end

      # What the models were asked, by agent.
      def asked(expect, journal)
        misfits = journal.filter_map { |entry| entry["error"] && "the script does not fit: #{entry["error"]} #{entry["body"].to_json}" }
        bodies = journal.map { |entry| entry["body"] }.group_by { |body| Notation.agent_of(body) }
        actual = bodies.transform_values { |list| list.map { |body| Notation.conversation(body) } }
        broken = journal.select { |entry| entry["disconnected_ms"] }.map { |entry| Notation.agent_of(entry["body"]) }.sort
        parts = (expect["bodies"] || {}).flat_map do |id, list|
          list.each_with_index.flat_map do |spec, place|
            spec.map { |key, value| same("body #{place} of #{id}: #{key}", value, (bodies[id] || [])[place]&.fetch(key, nil)) }
          end
        end
        [*misfits, *listed("requests", expect["requests"] || {}, actual), *parts, same("broken off", expect["broken_off"] || [], broken)]
      end

      def same(what, expected, actual)
        Conformance.send(:same, what, expected, actual)
      end

      def listed(what, expected, actual)
        return [] if Mask.match?(expected, actual)

        lines = ->(list) { list.is_a?(Hash) ? "\n#{JSON.pretty_generate(list)}" : Array(list).map { |entry| "\n    #{entry.to_json}," }.join }
        ["#{what}\n  expected#{lines.(expected)}\n  but were#{lines.(actual)}"]
      end
    end
  end
end
