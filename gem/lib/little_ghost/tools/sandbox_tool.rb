# frozen_string_literal: true

module LittleGhost
  module Tools
    # A tool that the engine defines, and whose work a sandbox does.
    module SandboxTool # :nodoc:
      # Has the name, the description and the schema of the engine's tool +name+.
      def defined_as(name)
        defined = Native::Sandbox.tools.find { |tool| tool["name"] == name }
        tool_name name
        description defined["description"]
        input_schema defined["input_schema"]
      end
    end
  end
end
