# frozen_string_literal: true

module LittleGhost
  class Swarm < Assembly
    # One member of a swarm, and how it takes part.
    class Member < Data.define(:name, :assembly, :policy, :history, :context) # :nodoc:
      def describe(table, around)
        unless Assembly::Reference.kind(assembly) == :agent
          raise ConfigurationError, "the member #{name.inspect} is no Agent: members of a swarm are Agents"
        end

        {
          "name" => name, "agent" => Assembly::Reference.resolve(assembly).describe(table, around),
          "policy" => policy.describe(table), "history" => history, "context" => context
        }
      end
    end
  end
end
