# frozen_string_literal: true

module LittleGhost
  class Graph < Assembly
    # What graph classes declare.
    module Routes # :nodoc:
      # +value+ as the name of a node.
      def self.name_of(value)
        name = value.to_sym if value.is_a?(String) || value.is_a?(Symbol)
        return name unless name.nil? || name.empty?

        raise ArgumentError, "a node is named by a Symbol, got #{value.inspect}"
      end

      # Declares a stop called +name+: an assembly class, a builder or a definition. +input+ gets the Graph::State
      # and returns what the node is asked, unless the route that leads there says it. An execution may take +timeout+
      # seconds, else it fails with AssemblyStepTimeoutError; after failures of the classes +retry_on+ it is
      # tried +retries+ times more, each +retry_delay+ seconds later.
      def node(name, assembly, timeout: nil, retries: 0, retry_on: nil, retry_delay: 0, history: false, context: false, input: nil)
        policy = Assembly::Policy.new(timeout: timeout, retries: retries, retry_on: retry_on, retry_delay: retry_delay)
        add_declaration(:nodes, Node.new(
          name: Routes.name_of(name), assembly: Assembly::Reference.check(assembly), policy: policy, history: flag("history", history),
          context: flag("context", context), input: callable("input", input)
        ))
      end

      # Declares a route. With an Array as target the nodes in it run in parallel, at most +max_concurrency+ at once;
      # with an Array as source the target waits for all nodes in it. A condition, given as <tt>if:</tt> or as a
      # block, gets the Graph::State: the route is taken when it alone holds; the one unconditional route is
      # taken when none does. +input+ gets the Graph::State and returns what the target is asked.
      def edge(from, to, input: nil, max_concurrency: nil, **options, &condition)
        unknown = options.keys - [:if]
        raise ArgumentError, "edge: unknown keyword #{unknown.first.inspect}; there are if, input and max_concurrency" if unknown.any?
        raise ArgumentError, "an edge takes if: or a block, not both" if condition && options.key?(:if)

        condition = callable("if", options[:if]) if options.key?(:if)
        add_declaration(:edges, Edge.build(
          from, to, condition: condition, input: callable("input", input), max_concurrency: max_concurrency
        ))
      end

      # Declares where failures of the classes +on+ lead, once no attempt is left. +input+ gets the Graph::State, with
      # its +error+, and returns what the node is asked. Cancellation, the deadline and failed clean-up are never led.
      def error_edge(from, to, on:, input: nil)
        add_declaration(:error_edges, ErrorEdge.new(
          from: Routes.name_of(from), to: Routes.name_of(to), on: Assembly::Policy.exceptions("on", on), input: callable("input", input)
        ))
      end

      # The node that begins; sets it with an argument.
      def start(name = nil)
        declared_value(:start, name) { |value| Routes.name_of(value) }
      end

      # The node whose answer is the graph's; sets it with an argument.
      def finish(name = nil)
        declared_value(:finish, name) { |value| Routes.name_of(value) }
      end

      # The most executions of nodes, 20 unless assigned.
      def max_steps(value = nil)
        declared_value(:max_steps, value) { |steps| natural("max_steps", steps) } || 20
      end

      # The most branches of a parallel group at once, 8 unless assigned.
      def max_concurrency(value = nil)
        declared_value(:max_concurrency, value) { |branches| natural("max_concurrency", branches) } || 8
      end

      private

      def callable(name, value)
        return value if value.nil? || value.respond_to?(:call)

        raise ArgumentError, "#{name} must be something to call with the Graph::State, got #{value.inspect}"
      end
    end
  end
end
