# frozen_string_literal: true

module LittleGhost
  class Tool
    # The collaborators that a tool is built with. It carries neither the model's arguments nor
    # application state.
    class Binding
      # The agent that owns the tool, or nil.
      attr_reader :agent
      # The Run, or nil.
      attr_reader :run
      # The Runtime, or nil.
      attr_reader :runtime

      def initialize(agent: nil, run: nil, runtime: nil, model: nil, workspace: nil, sandbox: nil)
        @agent = agent
        @run = run
        @runtime = runtime
        @model = model
        @workspace = workspace
        @sandbox = sandbox
      end

      # The model of the agent unless another one was given, or nil.
      def model
        @model || @agent&.model
      end

      # The sandbox: the one that was given, or else the run's; or nil.
      def sandbox
        @sandbox || (run.sandbox if run.respond_to?(:sandbox))
      end

      # The workspace: the one that was given, or else the run's; or nil.
      def workspace
        @workspace || (run.workspace if run.respond_to?(:workspace))
      end

      # An instance of each class, bound to these collaborators.
      def build(*tool_classes)
        tool_classes.map { |tool_class| tool_class.new(binding: self) }
      end

      # A copy with the given collaborators replaced.
      def with(agent: self.agent, run: self.run, runtime: self.runtime, model: @model,
        workspace: @workspace, sandbox: @sandbox)
        self.class.new(agent: agent, run: run, runtime: runtime, model: model, workspace: workspace, sandbox: sandbox)
      end
    end
  end
end
