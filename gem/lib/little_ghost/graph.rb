# frozen_string_literal: true

module LittleGhost
  # Participants at named nodes, and the routes that a request may take between them.
  #
  #   class SupportFlowGraph < LittleGhost::Graph
  #     node :triage, TriageAgent
  #     node :billing, BillingAgent
  #     node :respond, CustomerSupportAgent
  #
  #     start :triage
  #     edge :triage, :billing, if: ->(state) { state.result(:triage).output == "billing" }
  #     edge :triage, :respond
  #     edge :billing, :respond
  #     finish :respond
  #   end
  #
  #   SupportFlowGraph.validate!
  #   SupportFlowGraph.ask("Why is my transfer pending?").response
  #
  # Several unconditional edges from one node run in parallel and meet at their first unambiguous common successor.
  # An Array as target or source says so itself. Parallel groups do not nest. The start gets the request; a node
  # further on gets the request and the results of its predecessors, unless an +input+ mapper says otherwise. Nodes see
  # neither the caller's history nor its context unless they are declared with <tt>history: true</tt> or
  # <tt>context: true</tt>. Conditions and mappers get a Graph::State.
  class Graph < Assembly
    autoload :Edge, "little_ghost/graph/edge"
    autoload :ErrorEdge, "little_ghost/graph/error_edge"
    autoload :Node, "little_ghost/graph/node"
    autoload :Routes, "little_ghost/graph/routes"
    autoload :State, "little_ghost/graph/state"

    include Composite
    extend Declarations
    extend Routes

    class << self
      def assembly_kind
        :graph
      end

      # Raises ConfigurationError for what is wrong with nodes and routes: missing or undeclared ones, unreachable
      # ones, branches that do not meet or compete, parallel groups that overlap or nest. Returns the class.
      def validate!
        check
        self
      end

      # The declared routes as source of a Mermaid flowchart. Raises what validate! raises.
      def to_mermaid
        check
      end

      # As the engine needs it.
      def describe(table, around = Native::Surroundings.new, instance = nil) # :nodoc:
        inside = around.inside(self, table.locals(self, instance), overlapping: forks?)
        inside.describe({
          "kind" => "graph", "id" => assembly_id, "description" => description.to_s,
          "nodes" => declared(:nodes).map { |node| node.describe(table, inside) },
          "edges" => declared(:edges).map { |edge| edge.describe(table) },
          "error_edges" => declared(:error_edges).map { |edge| edge.describe(table) },
          "start" => start&.name, "finish" => finish&.name, "max_steps" => max_steps, "max_concurrency" => max_concurrency
        })
      end

      private

      # Whether any nodes may be at work at the same time.
      def forks?
        free = declared(:edges).reject { |edge| edge.condition || edge.fans_in }
        declared(:edges).any?(&:fans_out) || free.map(&:from).uniq.length < free.length
      end

      def check
        Native.check_assembly(describe(Native::Participants.new))
      end
    end

    # Closes what the graph itself owns. Its participants close with their attempts.
    def close
      super
    end

    def closes_nothing? # :nodoc:
      method(:close).owner.equal?(Graph)
    end
  end
end
