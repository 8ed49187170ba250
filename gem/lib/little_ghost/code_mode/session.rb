# frozen_string_literal: true

module LittleGhost
  module CodeMode
    # Runs the programs of one agent invocation, one at a time, one operation at a time. It owns what it makes: workspaces,
    # sandboxes, processes.
    #
    # A failure of a program is a ProgramResult. What cannot be one is raised: ToolError for what the model can put
    # right, CleanupError when a process may still be there.
    class Session
      # Starts a fresh program, watches it until it ends or for at most a minute, and returns a ProgramResult. +catalog+ are
      # the specifications of the tools it may call, +frame+ is data for it, no place for secrets, and +max_output_tokens+ bounds
      # the output of this look.
      def execute(source:, catalog:, frame: nil, max_output_tokens: nil, context: nil)
        raise AbstractMethodError, "#{self.class} does not implement #execute"
      end

      # Watches the active program again, and returns a ProgramResult with the output since.
      def wait(max_output_tokens: nil, context: nil)
        raise AbstractMethodError, "#{self.class} does not implement #wait"
      end

      # Ends the active program and returns a ProgramResult, +:terminated+.
      def stop(max_output_tokens: nil, context: nil)
        raise AbstractMethodError, "#{self.class} does not implement #stop"
      end

      # Ends the active program, if there is one, and releases everything. Again is no error.
      def close
        raise AbstractMethodError, "#{self.class} does not implement #close"
      end
    end
  end
end
