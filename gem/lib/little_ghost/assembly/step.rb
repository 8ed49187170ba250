# frozen_string_literal: true

module LittleGhost
  class Assembly
    # What one participant did for a composite result: a stable +id+; the +parent_id+ of the step around it, or
    # nil; the +predecessor_ids+ of steps whose results led to it; the +participant+ as its assembly calls it; the
    # +assembly_id+ and +assembly_kind+ of what ran; the +branch_id+ of a parallel branch, or nil; the +status+
    # (<tt>:completed</tt> or <tt>:failed</tt>); all +attempts+ and their +usage+.
    #
    # +output+ is the text or the structured value that came of it; of a member of a Swarm that handed off, the +agent_id+,
    # the +message+ and perhaps the +context+ that it gave. One larger than 64 KiB is not kept: then
    # +output_truncated+ is true.
    class Step < Data.define(:id, :parent_id, :predecessor_ids, :participant, :assembly_id, :assembly_kind, :branch_id,
      :status, :attempts, :usage, :output, :output_truncated)
      # From a Hash of the engine.
      def self.build(hash) # :nodoc:
        output = hash["output"]
        output = DataMap.new(output) if output.is_a?(Hash)
        new(
          id: hash["id"], parent_id: hash["parent_id"], predecessor_ids: hash["predecessor_ids"].freeze,
          participant: hash["participant"], assembly_id: hash["assembly_id"], assembly_kind: hash["assembly_kind"].to_sym,
          branch_id: hash["branch_id"], status: hash["status"].to_sym,
          attempts: hash["attempts"].map { |attempt| Attempt.build(attempt) }.freeze,
          usage: Native::EventBuilder.usage(hash["usage"]), output: Native::Freezing.deep(output),
          output_truncated: hash["output_truncated"]
        )
      end
    end
  end
end
