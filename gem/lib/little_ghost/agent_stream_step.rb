# frozen_string_literal: true

module LittleGhost
  # One step of the way to an agent inside an assembly: which assembly it is (+assembly_id+, +assembly_kind+), the
  # +participant+ that the way goes through, its +branch_id+ in a graph or nil, and the +step_id+ of this time.
  class AgentStreamStep < Data.define(:assembly_id, :assembly_kind, :participant, :branch_id, :step_id)
  end
end
