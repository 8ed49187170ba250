# frozen_string_literal: true

module Conformance
  module Assembly
    # The steps of a result, short: what is usual is left out, and steps are named by their participants.
    class Steps
      def initialize(trajectory)
        @trajectory = trajectory
        seen = Hash.new(0)
        @names = trajectory.to_h do |step|
          number = seen[step.participant] += 1
          [step.id, number == 1 ? step.participant : "#{step.participant} #{number}"]
        end
      end

      def shorten
        check
        @trajectory.map { |step| short(step) }
      end

      def concurrent?(first, second)
        @trajectory.concurrent?(@names.key(first), @names.key(second))
      end

      private

      def short(step)
        entry = {"step" => @names[step.id], "ran" => "#{step.assembly_kind} #{step.assembly_id}", "output" => Shape.plain(step.output)}
        entry["after"] = step.predecessor_ids.map { |id| @names.fetch(id) } unless step.predecessor_ids.empty?
        entry["in"] = @names.fetch(step.parent_id) if step.parent_id
        entry["branch"] = step.branch_id if step.branch_id
        attempts = step.attempts.map { |attempt| attempt.error&.split("::")&.last || "completed" }
        entry["attempts"] = attempts unless attempts == ["completed"]
        entry["status"] = step.status.name unless step.status == :completed
        counts = Conformance::Notation.counts(Shape.plain(step.usage))
        entry["usage"] = counts unless counts == [10, 5]
        entry["truncated"] = true if step.output_truncated
        entry
      end

      # What must hold of every trajectory.
      def check
        steps = @trajectory.to_a
        links = steps.flat_map { |step| step.predecessor_ids.map { |id| [id, step.id] } }
        raise "transitions are not those of the steps" unless @trajectory.transitions == links

        steps.each do |step|
          raise "#{step.participant} cannot be found" unless @trajectory.step(step.id).equal?(step)
          raise "attempts are not numbered" unless step.attempts.map(&:number) == [*1..step.attempts.length]
          raise "attempts do not add up" unless step.attempts.sum { |attempt| attempt.usage.total_tokens } == step.usage.total_tokens
          raise "the time runs backwards" unless step.attempts.all? { |attempt| attempt.started_at <= attempt.finished_at }
          raise "the inside is wrong" unless @trajectory.children(step.id) == steps.select { |inner| inner.parent_id == step.id }
        end
      end
    end
  end
end
