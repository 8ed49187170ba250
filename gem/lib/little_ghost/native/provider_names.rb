# frozen_string_literal: true

module LittleGhost
  module Native
    # What is registered under a name that configurations use.
    class ProviderNames # :nodoc:
      def initialize(kind, error = DependencyError, **builtin)
        @kind = kind
        @error = error
        @entries = builtin
        @lock = Mutex.new
      end

      # As register, for a class or something to call. Raises ArgumentError for anything else.
      def register_maker(name, implementation)
        unless implementation.is_a?(Class) || implementation.respond_to?(:call)
          raise ArgumentError, "a #{@kind} is a class, or something to call that makes one, got #{implementation.inspect}"
        end

        register(name, implementation)
      end

      def register(name, implementation)
        @lock.synchronize { @entries = @entries.merge(name.to_sym => implementation) }
        implementation
      end

      # What +name+ stands for. The library's own are loaded when they are used.
      def resolve(name)
        found = name.respond_to?(:to_sym) ? @entries[name.to_sym] : nil
        raise @error, "there is no #{@kind} called #{name.inspect}; there are #{@entries.keys.join(", ")}" if found.nil?

        found.is_a?(Builtin) ? found.load.call : found
      end

      # Whether the library's own stands for +name+.
      def builtin?(name)
        @entries[name.to_sym].is_a?(Builtin)
      end

      # One of the library's own.
      Builtin = Data.define(:load)
    end
  end
end
