# frozen_string_literal: true

require "json"

module LittleGhost
  module Tools
    # Lets a model run one program in the sandbox of its run: an argument vector, which no shell reads.
    #
    # The program gets none of this process's variables, 30 seconds, and 1 MB of each output stream. It may start others where the
    # sandbox has that. These bounds isolate nothing; the sandbox does.
    class Shell < Tool
      extend SandboxTool

      # Seconds that a program gets.
      TIMEOUT = 30
      # Bytes kept of each of its output streams.
      OUTPUT_BYTES = 1_000_000
      private_constant :TIMEOUT, :OUTPUT_BYTES

      defined_as "shell"

      # Runs <tt>input["command"]</tt> and returns JSON with +stdout+, +stderr+, +exit_status+ and +success+, the last two
      # null when a signal ended it. Raises ToolError after 30 seconds and for an empty command.
      def call(input)
        raise ToolError, "There is no sandbox for programs." if sandbox.nil?

        command = input.fetch("command")
        return sandbox_tool(command) if sandbox.own_engine?
        raise ToolError, "The command is empty; name a program." if command.first.to_s.empty?

        report(sandbox.execute_program(command, timeout: TIMEOUT, context: context, max_output_bytes: OUTPUT_BYTES))
      end

      private

      def sandbox_tool(command)
        operation = {"op" => "tool", "name" => "shell", "input" => {"command" => command}}
        Native::JobWait.finish(sandbox.engine.perform(operation), context)
      end

      # As the engine writes it.
      def report(execution)
        raise execution.error if execution.error

        status = execution.exit_code
        JSON.generate({stdout: execution.stdout, stderr: execution.stderr, exit_status: status, success: status && status.zero?})
      end
    end
  end
end
