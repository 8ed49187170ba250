# frozen_string_literal: true

module LittleGhost
  class Graph < Assembly
    # What conditions and input mappers see of a request on its way. Everything is a frozen copy: nothing in it
    # changes the graph. Nodes are named by Symbols.
    class State
      # The request, a Message.
      attr_reader :input
      # The caller's history, an Array of Messages.
      attr_reader :history
      # What the application knows about the request, a DataMap.
      attr_reader :context
      # The node that has just ended, for a condition; the node that is about to begin, for a mapper.
      attr_reader :current
      # The number of that node's execution, from 1.
      attr_reader :step
      # The RunResult of each node that has ended, by its name.
      attr_reader :results
      # The results of the immediate predecessors, in the order of their declaration.
      attr_reader :incoming_results
      # The names of the immediate predecessors.
      attr_reader :predecessors
      # The failure that an error edge leads on, or nil.
      attr_reader :error

      # From a Hash of the engine. The block makes the RunResult of a Hash.
      def initialize(hash, error) # :nodoc:
        @input = Message.build(hash["input"])
        @history = hash["history"].map { |message| Message.build(message) }.freeze
        @context = Native::Freezing.deep(DataMap.new(hash["context"]))
        @results = hash["results"].to_h { |name, result| [name.to_sym, Native::Freezing.result(yield(result))] }.freeze
        @predecessors = hash["incoming"].map(&:to_sym).freeze
        @incoming_results = @results.slice(*@predecessors).freeze
        @current = hash["current"]&.to_sym
        @step = hash["step"]
        @error = Native::Freezing.exception(error)
        freeze
      end

      # The only predecessor, or nil.
      def previous
        predecessors.first if predecessors.one?
      end

      # The result of the only predecessor, or nil.
      def previous_result
        results[previous]
      end

      # The result of the node +node_name+, or nil.
      def result(node_name)
        results[node_name.to_sym]
      end

      # Names where the request is.
      def inspect
        "#<#{self.class} at #{current.inspect}, step #{step}>"
      end
    end
  end
end
