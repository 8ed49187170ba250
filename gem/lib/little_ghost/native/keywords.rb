# frozen_string_literal: true

module LittleGhost
  module Native
    # Calls to callables that need not take every keyword.
    module Keywords # :nodoc:
      class << self
        # Calls +callable+ with those of +arguments+ that it takes.
        def call(callable, **arguments)
          callable.call(**taken(callable, arguments))
        end

        # Those of +arguments+ that +callable+ takes.
        def taken(callable, arguments)
          parameters = parameters(callable)
          return arguments if parameters.any? { |kind, _| kind == :keyrest }

          arguments.slice(*parameters.filter_map { |kind, name| name if %i[key keyreq].include?(kind) })
        end

        # Whether +callable+ takes the keyword +name+.
        def accepts?(callable, name)
          parameters(callable).any? { |kind, parameter| kind == :keyrest || (%i[key keyreq].include?(kind) && parameter == name) }
        end

        private

        def parameters(callable)
          callable.respond_to?(:parameters) ? callable.parameters : callable.method(:call).parameters
        end
      end
    end
  end
end
