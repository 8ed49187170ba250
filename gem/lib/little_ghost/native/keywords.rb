# frozen_string_literal: true

module LittleGhost
  module Native
    # Calls to callables that need not take every keyword.
    module Keywords # :nodoc:
      # Calls +callable+ with those of +arguments+ that it takes.
      def self.call(callable, **arguments)
        parameters = callable.respond_to?(:parameters) ? callable.parameters : callable.method(:call).parameters
        return callable.call(**arguments) if parameters.any? { |kind, _| kind == :keyrest }

        taken = parameters.filter_map { |kind, name| name if %i[key keyreq].include?(kind) }
        callable.call(**arguments.slice(*taken))
      end
    end
  end
end
