# frozen_string_literal: true

module LittleGhost
  class Sandbox
    # Programs as the engine takes them.
    module Programs # :nodoc:
      class << self
        # A description of +command+ with those options that are not nil. Raises ToolError for a command that is none.
        def describe(command, environment: {}, cwd: nil, **options)
          unless command.is_a?(Array) && !command.empty? && command.all?(String)
            raise ToolError, "The command must be a program and its arguments, all texts."
          end

          described = options.compact.transform_keys(&:name)
          described["command"] = command
          described["environment"] = variables(environment) unless environment.empty?
          described["cwd"] = cwd.to_s unless cwd.nil?
          described
        end

        def variables(environment)
          environment.to_h { |name, value| [name.to_s, value.to_s] }
        end

        # An Execution of the engine's.
        def execution(report)
          error = report["error"] && Error.new(report["error"])
          Execution.new(stdout: report["stdout"], stderr: report["stderr"], exit_code: report["exit_code"], error: error)
        end
      end
    end
  end
end
