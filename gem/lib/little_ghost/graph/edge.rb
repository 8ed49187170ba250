# frozen_string_literal: true

module LittleGhost
  class Graph < Assembly
    # A route: from one node to one, from one to several, or from several to one.
    class Edge < Data.define(:from, :to, :condition, :input, :max_concurrency, :fans_out, :fans_in) # :nodoc:
      class << self
        # From what was declared. Raises ArgumentError for what no route can be.
        def build(from, to, condition:, input:, max_concurrency:)
          fans_in, fans_out = from.is_a?(Array), to.is_a?(Array)
          raise ArgumentError, "an edge has an Array at one end only" if fans_in && fans_out
          raise ArgumentError, "an edge from several nodes waits for all of them and takes no condition" if fans_in && condition

          check_concurrency(max_concurrency, fans_out) unless max_concurrency.nil?
          new(
            from: ends("from", from), to: ends("to", to), condition: condition, input: input,
            max_concurrency: max_concurrency, fans_out: fans_out, fans_in: fans_in
          )
        end

        private

        def check_concurrency(value, fans_out)
          raise ArgumentError, "max_concurrency is for an edge to several nodes" unless fans_out
          return if value.is_a?(Integer) && value.positive?

          raise ArgumentError, "max_concurrency must be an Integer of at least 1, got #{value.inspect}"
        end

        def ends(side, value)
          return [Routes.name_of(value)].freeze unless value.is_a?(Array)

          names = value.map { |name| Routes.name_of(name) }
          return names.freeze if names.length > 1 && names.uniq == names

          raise ArgumentError, "an edge #{side} several nodes names at least two different ones, got #{value.inspect}"
        end
      end

      def describe(table)
        {
          "from" => from.map(&:name), "to" => to.map(&:name), "condition" => table.code(condition), "input" => table.code(input),
          "max_concurrency" => max_concurrency, "fans_out" => fans_out, "fans_in" => fans_in
        }.compact
      end
    end
  end
end
