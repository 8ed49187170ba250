# frozen_string_literal: true

module LittleGhost
  class Graph < Assembly
    # A route for failures of the classes +on+.
    class ErrorEdge < Data.define(:from, :to, :on, :input) # :nodoc:
      def describe(table)
        {"from" => from.name, "to" => to.name, "on" => table.code(on), "input" => table.code(input)}.compact
      end
    end
  end
end
