# frozen_string_literal: true

module LittleGhost
  class Runtime
    # Makes the workspace and sandbox of a run from what the application declared: a callable, or a Hash
    # with a +provider+ that is a class or a callable, and its options.
    class Resources # :nodoc:
      def initialize(kind, declaration)
        @kind = kind
        @declaration = declaration
      end

      def build(**arguments)
        case @declaration
        when nil then nil
        when Hash then from_hash(arguments)
        else
          return made(@declaration.call(**arguments)) if @declaration.respond_to?(:call)

          unknown(@declaration)
        end
      end

      private

      def from_hash(arguments)
        provider = @declaration[:provider]
        options = @declaration.except(:provider).to_h.merge(arguments.compact)
        return made(provider.new(**options)) if provider.is_a?(Class)
        return made(provider.call(**options)) if provider.respond_to?(:call)

        unknown(provider)
      end

      def made(resource)
        return resource unless resource.nil?

        raise ConfigurationError, "the #{@kind} declaration made nil"
      end

      def unknown(provider)
        raise ConfigurationError, "there is no built-in #{@kind} #{provider.inspect}; declare a class or a callable " \
          "that makes the #{@kind}"
      end
    end
  end
end
