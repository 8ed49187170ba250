# frozen_string_literal: true

module LittleGhost
  class Swarm < Assembly
    # One member of a swarm, and how it takes part.
    class Member < Data.define(:name, :assembly, :policy, :history, :context) # :nodoc:
      def describe(table, around)
        {
          "name" => name, "agent" => Assembly::Reference.resolve(assembly).describe(table, around),
          "policy" => policy.describe(table), "history" => history, "context" => context
        }
      end
    end
  end
end
