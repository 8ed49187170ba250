# frozen_string_literal: true

module LittleGhost
  class Run
    # What a run continues and leaves: its session, and the state that its tools share.
    module Conversation
      # The Session of this run, in the Runtime's store under the invocation's session id. Its actor is what
      # Configuration#session_actor says, else the invocation's.
      def session
        @session ||= Session.new(
          id: invocation.session_id, store: runtime.session_store, actor_id: runtime.session_actor(invocation),
          operation_id: operation_id
        )
      end

      # What tools share; starts as a copy of the request's context.
      def shared_state # :nodoc:
        @state ||= DataMap.new(invocation.context || {})
      end

      # Whether the state is empty, and always was: the engine need not ask for it.
      def stateless? # :nodoc:
        note_state
        !@stateful
      end

      # The state, which is about to be told to the engine.
      def note_state # :nodoc:
        @stateful ||= !shared_state.empty?
        shared_state
      end

      # The operation that encloses it, when it is not the current one.
      def engine_parent = nil # :nodoc:

      # What the engine executes.
      def engine_kind = "run" # :nodoc:

      # The hooks that the engine has to ask.
      def engine_hooks # :nodoc:
        %w[session_history error_message].select { |name| runtime.runtime_hooks.any?(name) }
      end

      private

      def open_session
        if Nesting.runs.any? { |other| !other.equal?(self) && other.session&.key == session.key }
          raise Error, "the session is in use by the run that this one is asked from, which waits for it; use another session_id"
        end

        actor = session.actor_id
        handle.use_session(session.id.to_s, actor && actor.to_s, {}, session.store.native)
      end

      # The engine has written to it.
      def close_session
        @session.forget if @session&.store&.native
      end
    end
  end
end
