# frozen_string_literal: true

module LittleGhost
  class Sandbox
    # Sandboxes by the names that configurations use.
    module Providers # :nodoc:
      NAMES = Native::ProviderNames.new(
        "sandbox",
        bubblewrap: Native::ProviderNames::Builtin.new(-> { Sandboxes::Bubblewrap }),
        native: Native::ProviderNames::Builtin.new(-> { Sandboxes::Native }),
        seatbelt: Native::ProviderNames::Builtin.new(-> { Sandboxes::Seatbelt }),
        unrestricted: Native::ProviderNames::Builtin.new(-> { Sandboxes::Unrestricted })
      )
      private_constant :NAMES

      # Whether the sandbox called +name+ can be used here: <tt>{available:, reason:, capabilities:}</tt>. Nothing is
      # started that outlives the call.
      def probe(name, **options)
        found = resolve_provider(name)
        return found.probe(**options) if found.respond_to?(:probe) && found.method(:probe).owner != Providers

        usable(found)
      end

      # Registers a subclass, or a callable that makes sandboxes, under a name. Raises ArgumentError for anything else.
      def register_provider(name, implementation)
        NAMES.register_maker(name, implementation)
      end

      # What is registered as +name+. Raises DependencyError when nothing is; nothing stands in.
      def resolve_provider(name)
        NAMES.resolve(name)
      end

      # Whether the library's own sandbox stands for +name+.
      def own_provider?(name) # :nodoc:
        NAMES.builtin?(name)
      end

      private

      # A sandbox that does not say is there.
      def usable(found)
        capabilities = found.respond_to?(:backend_capabilities) ? found.backend_capabilities : Capabilities.new
        {available: true, reason: nil, capabilities: capabilities}
      end
    end
  end
end
