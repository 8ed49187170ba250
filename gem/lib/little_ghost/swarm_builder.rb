# frozen_string_literal: true

module LittleGhost
  # Builds swarms whose members are known only while the application runs, with the calls of a Swarm class.
  #
  #   swarm = LittleGhost::SwarmBuilder.new(id: "problem_solver")
  #   swarm.member TriageAgent
  #   swarm.member BillingAgent
  #   swarm.start TriageAgent
  #   swarm.validate!
  #
  # A declaration returns the builder.
  class SwarmBuilder < AssemblyBuilder
    declares :member, :start, :handoff, :max_steps, :max_handoff_repeats

    private

    def default_base
      Swarm
    end
  end
end
