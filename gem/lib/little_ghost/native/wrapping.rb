# frozen_string_literal: true

module LittleGhost
  module Native
    # The command wrapper of one sandbox as the engine asks it.
    class Wrapping # :nodoc:
      def initialize(wrapper, sandbox)
        @wrapper = wrapper
        @sandbox = sandbox
        register
      end

      # How the options of the sandbox name it.
      def declaration
        @registered.declaration
      end

      def attach(user)
        # One from before a fork would share its questions with the parent.
        register unless @process == Process.pid
        @answering.start(user)
      end

      def detach(user)
        @answering.stop(user)
      end

      private

      def register
        @process = Process.pid
        @answering = Answering.new { |question| wrap(question["command"], question["scope"]) }
        @registered = CommandWrapper.new(HostObjects.key(self), @answering.questions)
      end

      def wrap(command, left)
        Keywords.call(@wrapper, argv: command, workspace: @sandbox.workspace, scope: left && scope(left))
      end

      def scope(left)
        network = false if left["network"]&.fetch("mode") == "none"
        LittleGhost::Sandbox::Scope.new(sandbox: @sandbox, **left.transform_keys(&:to_sym), network: network)
      end
    end
  end
end
