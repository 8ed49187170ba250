# frozen_string_literal: true

module LittleGhost
  # Builds workflows whose body is given while the application runs, or whose class gives it while configuration gives
  # identity and description.
  #
  #   workflow = LittleGhost::WorkflowBuilder.new(id: "response")
  #   workflow.perform { |response| response.send(:invoke, CustomerSupportAgent) }
  #   workflow.ask("Where is my order?")
  class WorkflowBuilder < AssemblyBuilder
    # Gives the body: a block that gets the Workflow, whose private helpers it reaches by +send+. Returns the
    # builder.
    def perform(&body)
      raise ArgumentError, "perform needs a block" unless body

      @prototype.body = body
      self
    end

    # Raises ConfigurationError without a body; returns +self+.
    def validate!
      return self if @prototype.body || performs?

      raise ConfigurationError, "the workflow #{assembly_id.inspect} has nothing to perform; give it a block or a base"
    end

    private

    def performs?
      @prototype.instance_method(:perform).owner != Workflow::Body
    end

    def default_base
      Workflow
    end
  end
end
