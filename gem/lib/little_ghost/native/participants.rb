# frozen_string_literal: true

module LittleGhost
  module Native
    # What of an assembly's description is code, under the keys that the engine has for it: participants, conditions,
    # mappers, classes of failures. One table for each run.
    class Participants # :nodoc:
      # An assembly that takes part: its class, and what is around it.
      Participant = Data.define(:implementation, :around)
      private_constant :Participant

      # Without a +run+, for a description that is only checked.
      def initialize(run = nil)
        @run = run
        @entries = []
        @lock = Mutex.new
      end

      # The key of an assembly that takes part.
      def participant(implementation, around)
        keep(Participant.new(implementation: implementation, around: around))
      end

      # The key of a callable or of a list of classes; nil for nil.
      def code(value)
        value.nil? ? nil : keep(value)
      end

      def fetch(key)
        @lock.synchronize { @entries.fetch(key) }
      end

      # The prompt locals that +implementation+ has for its participants; +instance+ is the one that is at work, if there
      # is one.
      def locals(implementation, instance)
        return {} if instance.nil? && (@run.nil? || implementation.instance_method(:prompt_locals).owner == Assembly)

        (instance || implementation.new(run: @run.owner, runtime: @run.runtime)).prompt_locals
      end

      private

      def keep(value)
        @lock.synchronize do
          @entries << value
          @entries.length - 1
        end
      end
    end
  end
end
