# frozen_string_literal: true

module LittleGhost
  class Agent
    # Hands every checkpoint of one invocation to a block, with all its messages.
    class CheckpointStore < SessionStore # :nodoc:
      def initialize(&save)
        super()
        @save = save
        @messages = []
      end

      def load(_id, actor_id: nil)
      end

      def append(_id, messages:, **)
        keep(@messages + messages)
      end

      def replace(_id, messages:, **)
        keep(messages)
      end

      private

      def keep(messages)
        @messages = messages
        @save.call(messages.dup.freeze)
        nil
      end
    end
  end
end
