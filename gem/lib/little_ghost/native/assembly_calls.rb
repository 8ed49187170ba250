# frozen_string_literal: true

module LittleGhost
  module Native
    # What the engine has the application decide for an assembly. The block makes the RunResult of a Hash.
    module AssemblyCalls # :nodoc:
      class << self
        # Whether a route is taken.
        def condition(code, payload, exceptions, &results)
          code.call(state(payload, exceptions, &results)) ? true : false
        end

        # What a node is asked.
        def input(code, payload, exceptions, &results)
          ModelValues.input(code.call(state(payload, exceptions, &results)))
        end

        # Whether a failure is of one of these classes.
        def matches(classes, payload, exceptions)
          error = exceptions.fetch(payload["error"])
          classes.any? { |type| type === error }
        end

        private

        def state(payload, exceptions, &results)
          hash = payload["state"]
          Graph::State.new(hash, exceptions.fetch(hash["error"]), &results)
        end
      end
    end
  end
end
