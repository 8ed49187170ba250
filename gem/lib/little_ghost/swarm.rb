# frozen_string_literal: true

module LittleGhost
  # Agents that hand one request on to each other. One member is at work at a time: it answers, or it calls the tool
  # +handoff_to_agent+ to choose the next one.
  #
  #   class ProblemSolverSwarm < LittleGhost::Swarm
  #     member TriageAgent
  #     member BillingAgent
  #     member AccountAgent
  #
  #     start TriageAgent
  #     handoff TriageAgent, to: [BillingAgent, AccountAgent]
  #     max_steps 12
  #   end
  #
  #   ProblemSolverSwarm.ask("Why was I charged twice?").response
  #
  # Without any +handoff+ every member may hand on to every other. Once there is one, only declared ones are
  # possible. Members see neither the caller's history nor its context unless they are declared with
  # <tt>history: true</tt> or <tt>context: true</tt>. What a member that hands on said does not reach the caller.
  class Swarm < Assembly
    autoload :Member, "little_ghost/swarm/member"

    include Composite
    extend Declarations

    class << self
      def assembly_kind
        :swarm
      end

      # Declares an agent as a member, called +as+ or by its agent id. An execution may take +timeout+ seconds, else
      # it fails with AssemblyStepTimeoutError; after failures of the classes +retry_on+ it is tried +retries+
      # times more, each +retry_delay+ seconds later.
      def member(agent, as: nil, timeout: nil, retries: 0, retry_on: nil, retry_delay: 0, history: false, context: false)
        Assembly::Reference.check(agent)
        name = (as || Assembly::Reference.id(agent)).to_s
        raise ArgumentError, "a member needs an id; name it with as:" if name.empty?

        policy = Assembly::Policy.new(timeout: timeout, retries: retries, retry_on: retry_on, retry_delay: retry_delay)
        add_declaration(:members, Member.new(
          name: name, assembly: agent, policy: policy, history: flag("history", history), context: flag("context", context)
        ))
      end

      # The member that begins; sets it with an argument.
      def start(member = nil)
        declared_value(:start, member) { |value| member_id(value) }
      end

      # Declares whom +from+ may hand on to: one member or an Array of them.
      def handoff(from, to:)
        targets = (to.is_a?(Array) ? to : [to]).map { |target| member_id(target) }
        raise ArgumentError, "a handoff needs at least one target" if targets.empty?
        raise ArgumentError, "a handoff names each target once, got #{targets.inspect}" unless targets.uniq == targets

        add_declaration(:handoffs, {"from" => member_id(from), "to" => targets.freeze}.freeze)
      end

      # The most executions of members, 20 unless assigned.
      def max_steps(value = nil)
        declared_value(:max_steps, value) { |steps| natural("max_steps", steps) } || 20
      end

      # How often one member may hand on to the same other, 3 unless assigned.
      def max_handoff_repeats(value = nil)
        declared_value(:max_handoff_repeats, value) { |repeats| natural("max_handoff_repeats", repeats) } || 3
      end

      # Raises ConfigurationError when members or handoffs cannot work; returns the class.
      def validate!
        Native.check_assembly(describe(Native::Participants.new))
        self
      end

      # As the engine needs it.
      def describe(table, around = Native::Surroundings.new, instance = nil) # :nodoc:
        inside = around.inside(self, table.locals(self, instance))
        members = declared(:members).map { |member| member.describe(table, inside) }
        {
          "kind" => "swarm", "id" => assembly_id, "description" => description.to_s, "members" => members,
          "start" => start, "handoffs" => declared(:handoffs), "max_steps" => max_steps, "max_handoff_repeats" => max_handoff_repeats
        }
      end

      private

      def member_id(reference)
        return reference.to_s.tap { |id| raise ArgumentError, "the id of a member is empty" if id.empty? } if named?(reference)

        Assembly::Reference.check(reference)
        # A class that takes part under another name is still known by itself.
        member = declared(:members).find { |known| known.assembly.equal?(reference) }
        member ? member.name : Assembly::Reference.id(reference)
      end

      def named?(reference)
        reference.is_a?(String) || reference.is_a?(Symbol)
      end
    end
  end
end
