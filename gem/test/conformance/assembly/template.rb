# frozen_string_literal: true

module Conformance
  module Assembly
    # Texts with names in braces, which stand for what a workflow or a graph knows.
    module Template
      # The text with what the block says in place of each name.
      def self.fill(text)
        text.gsub(/\{([A-Za-z_][\w.]*)\}/) { shown(yield(*Regexp.last_match(1).split(".", 2))) }
      end

      def self.shown(value)
        case value
        when String then value
        when Array then value.map { |entry| shown(entry) }.join(", ")
        else JSON.generate(Shape.plain(value))
        end
      end

      # What a mapper says of a Graph::State.
      def self.of_state(text, state)
        fill(text) do |name, key|
          case name
          when "input" then state.input.text
          when "history" then state.history.map(&:text)
          when "context" then state.context[key]
          when "out" then state.result(key).output
          when "results" then state.results.keys.map(&:name)
          when "incoming" then state.incoming_results.map { |node, result| "#{node}=#{shown(result.output)}" }
          when "predecessors" then state.predecessors.map(&:name)
          when "previous" then state.previous ? state.previous.name : "nobody"
          when "current" then state.current.name
          when "step" then state.step
          when "error" then state.error ? Shape.error(state.error)["class"] : "none"
          else raise "a state has no #{name}"
          end
        end
      end
    end
  end
end
