# frozen_string_literal: true

module LittleGhost
  class Agent
    # Hands every checkpoint of one invocation to a block, with all its messages.
    class CheckpointStore < SessionStore # :nodoc:
      def initialize(id, &save)
        super()
        @id = id
        @save = save
        @messages = []
      end

      def load(_id, actor_id: nil)
      end

      def append(id, messages:, **)
        keep(id, @messages + messages)
      end

      def replace(id, messages:, **)
        keep(id, messages)
      end

      private

      # What is kept beside the conversation is nothing for the caller.
      def keep(id, messages)
        return unless id == @id

        @messages = messages
        @save.call(messages.dup.freeze)
        nil
      end
    end
  end
end
