# frozen_string_literal: true

module LittleGhost
  # Several participants, coordinated by ordinary Ruby.
  #
  #   class ResponseWorkflow < LittleGhost::Workflow
  #     private
  #
  #     def perform
  #       evidence = invoke(ResearchAgent).output
  #       invoke CustomerSupportAgent, input: "#{input.text}\n\nResearch:\n#{evidence}"
  #     end
  #   end
  #
  #   ResponseWorkflow.ask("Why is transfer 481 pending?").response
  #
  # A subclass defines +perform+. Inside, +invoke+ prepares a call of a participant, Workflow::Invocation#output makes
  # it and waits for its answer, and +parallel+ makes several at once. +perform+ returns the final invocation
  # without having read its output: that one streams to the caller. Anything else fails the run with
  # ProtocolError.
  #
  # +perform+ runs on the thread or fiber that reads the run. It has +input+, the Message; +history+, an Array of
  # Messages; and +context+, a DataMap. Each participant gets copies of them.
  class Workflow < Assembly
    autoload :Body, "little_ghost/workflow/body"
    autoload :Invocation, "little_ghost/workflow/invocation"

    include Composite
    include Body
    extend Declarations

    class << self
      def assembly_kind
        :workflow
      end

      # The block that stands for +perform+, or nil.
      def body # :nodoc:
        declarations[:body]
      end

      def body=(block) # :nodoc:
        set_declaration(:body, block)
      end

      # As the engine needs it.
      def describe(table, around = Native::Surroundings.new, _instance = nil) # :nodoc:
        {
          "kind" => "workflow", "key" => table.participant(self, around), "id" => assembly_id,
          "description" => description.to_s
        }
      end
    end

    ##
    # :method: invoke
    # :call-seq: invoke(reference, as: nil, input: nil, history: nil, context: nil, timeout: nil, retries: 0, retry_on: nil, retry_delay: 0)
    #
    # A Workflow::Invocation of +reference+: an assembly class, a builder, an AssemblyDefinition, or the name of an Agent,
    # such as +:billing+ for +BillingAgent+. +as+ names the participant in steps and telemetry. +input+, +history+ and
    # +context+ replace the workflow's own. An attempt may take +timeout+ seconds, else it fails with
    # AssemblyStepTimeoutError; after failures of the classes +retry_on+ it is tried +retries+ times more, each
    # +retry_delay+ seconds later.

    ##
    # :method: parallel
    # :call-seq: parallel(*invocations, max_concurrency: 8)
    #
    # The outputs of +invocations+ in their order, at most +max_concurrency+ of which are at work at once. The first
    # failure cancels the others and is raised.

    # Closes what the workflow itself owns. Its participants close with their attempts.
    def close
      super
    end

    def closes_nothing? # :nodoc:
      method(:close).owner.equal?(Workflow)
    end
  end
end
