# frozen_string_literal: true

module LittleGhost
  class Graph < Assembly
    # A named stop, and how its participant takes part.
    class Node < Data.define(:name, :assembly, :policy, :history, :context, :input) # :nodoc:
      def describe(table, around)
        {
          "name" => name.name, "participant" => Assembly::Reference.resolve(assembly).describe(table, around),
          "policy" => policy.describe(table), "history" => history, "context" => context, "input" => table.code(input)
        }.compact
      end
    end
  end
end
