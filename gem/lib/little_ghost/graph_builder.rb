# frozen_string_literal: true

module LittleGhost
  # Builds graphs whose nodes and routes are known only while the application runs, with the calls of a Graph class.
  #
  #   graph = LittleGhost::GraphBuilder.new(id: "support_flow")
  #   graph.node :triage, TriageAgent
  #   graph.node :respond, CustomerSupportAgent
  #   graph.start :triage
  #   graph.edge :triage, :respond
  #   graph.finish :respond
  #   graph.validate!
  #
  # A declaration returns the builder.
  class GraphBuilder < AssemblyBuilder
    declares :node, :start, :edge, :finish, :max_steps, :max_concurrency, :error_edge

    # As Graph.to_mermaid.
    def to_mermaid
      @prototype.to_mermaid
    end

    private

    def default_base
      Graph
    end
  end
end
