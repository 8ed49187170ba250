# frozen_string_literal: true

module LittleGhost
  module Native
    # What the engine asks of a run's session: its state, its history, and a store written in Ruby.
    class SessionCalls # :nodoc:
      def initialize(run)
        @run = run
      end

      # The live state as it is now.
      def state
        @run.note_state.to_h
      end

      # Lays the request's context over the stored state, which becomes the live one.
      def restore(stored)
        @run.shared_state.replace(DataMap.new(stored).merge(@run.invocation.context || {}))
        state
      end

      # What the hooks choose, or nil.
      def history(payload)
        stored, fallback = payload.values_at("stored", "fallback").map { |messages| build(messages) }
        chosen = @run.runtime.runtime_hooks.session_history(@run, stored: stored, fallback: fallback)
        return if chosen.nil?
        raise ArgumentError, "the hook session_history must return an Array of Messages or nil, got #{chosen.class}" unless chosen.is_a?(Array)

        chosen.map { |message| Message.coerce(message).to_h }
      end

      # The answer of the store to an operation on a session: the run's own, or one that the engine keeps beside it.
      def operate(payload)
        session = session(payload)
        case payload["op"]
        when "load" then return session.persisted&.value
        when "append" then session.write_append(snapshot(payload), expected_count: payload["expected_count"])
        when "replace" then session.write_replace(snapshot(payload))
        else raise Error, "the engine asked for the session operation #{payload["op"].inspect}, which the gem does not know"
        end
        nil
      end

      private

      def session(payload)
        own = @run.session
        return own if own.id.to_s == payload["id"]

        (@others ||= {})[payload["id"]] ||= Session.new(id: payload["id"], store: own.store, actor_id: own.actor_id, operation_id: own.operation_id)
      end

      def snapshot(payload)
        Session::Snapshot.new(payload.slice("messages", "state", "metadata"))
      end

      def build(messages)
        messages.map { |message| Message.build(message) }.freeze
      end
    end
  end
end
