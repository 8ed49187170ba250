# frozen_string_literal: true

module LittleGhost
  # Which agent an <tt>:agent_stream</tt> event comes from: its +agent_id+, its +agent_path+ among subagents (from
  # <tt>/root</tt>), its +assembly_path+ (a frozen Array of AgentStreamStep, outermost first), the +operation_id+ of this
  # invocation, and the +parent_operation_id+ or nil.
  class AgentStreamSource < Data.define(:agent_id, :agent_path, :assembly_path, :operation_id, :parent_operation_id)
  end
end
