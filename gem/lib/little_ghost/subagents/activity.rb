# frozen_string_literal: true

module LittleGhost
  module Subagents
    # What an agent with subagents knows of its delegation.
    class Activity # :nodoc:
      # The kinds of subagents that the model may ask for.
      attr_reader :kinds

      def initialize(kinds)
        @kinds = kinds.dup.freeze
      end
    end
  end
end
