# frozen_string_literal: true

module LittleGhost
  class Runtime
    # Where the runs of a Runtime keep their conversations, and for whom.
    module Persistence # :nodoc:
      # The shared SessionStore.
      attr_reader :session_store

      # Who owns the session of +invocation+.
      def session_actor(invocation) # :nodoc:
        resolver = settings[:session_actor]
        resolver ? resolver.call(invocation) : invocation.actor_id
      end

      private

      def build_session_store
        declaration = settings[:session_store]
        return SessionStores::Memory.new if declaration.nil?

        provider = declaration[:provider]
        unless provider.is_a?(Class) && provider <= SessionStore
          raise ConfigurationError, "the provider of session_store must be a subclass of SessionStore, got #{provider.inspect}"
        end

        provider.new(**declaration.to_h.except(:provider))
      rescue ArgumentError => error
        raise ConfigurationError, "session_store cannot be built: #{error.message}"
      end
    end
  end
end
