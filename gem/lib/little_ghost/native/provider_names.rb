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

      def register(name, implementation)
        @lock.synchronize { @entries = @entries.merge(name.to_sym => implementation) }
        implementation
      end

      # What +name+ stands for. The library's own are loaded when they are used.
      def resolve(name)
        found = @entries[name.to_sym]
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
