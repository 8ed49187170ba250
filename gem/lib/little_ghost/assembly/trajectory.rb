# frozen_string_literal: true

module LittleGhost
  class Assembly
    # Questions about the steps of one result: what ran, after what, and at the same time as what.
    class Trajectory
      include Enumerable

      # The steps in the order in which they ran; frozen.
      attr_reader :steps

      def initialize(steps)
        @steps = steps.dup.freeze
        @by_id = @steps.to_h { |step| [step.id, step] }.freeze
        freeze
      end

      # Yields each step.
      def each(&block)
        return enum_for(:each) unless block

        steps.each(&block)
        self
      end

      # The step with this id, or nil.
      def step(id)
        @by_id[id]
      end

      # The steps inside the step with this id.
      def children(id)
        steps.select { |step| step.parent_id == id }
      end

      # The attempts of the step with this id; empty when there is none.
      def attempts_for(id)
        step(id)&.attempts || [].freeze
      end

      # Pairs of ids: a step, and one that its result led to.
      def transitions
        steps.flat_map { |step| step.predecessor_ids.map { |id| [id, step.id] } }
      end

      # Whether any attempts of the two steps went on at the same time.
      def concurrent?(first_id, second_id)
        attempts_for(first_id).any? do |first|
          attempts_for(second_id).any? { |second| first.started_at < second.finished_at && second.started_at < first.finished_at }
        end
      end
    end
  end
end
