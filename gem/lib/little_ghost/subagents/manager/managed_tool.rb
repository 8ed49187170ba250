# frozen_string_literal: true

module LittleGhost
  module Subagents
    class Manager
      # One of the tools of a manager.
      class ManagedTool < Tool # :nodoc:
        # The tool that +specification+ says; +owner+ is the one whose end closes the manager.
        def self.build(manager, specification, owner:)
          tool = Class.new(self) do
            tool_name specification["name"]
            description specification["description"]
            input_schema specification["input_schema"]
          end
          tool.new.tap { |built| built.serve(manager, owner) }
        end

        def serve(manager, owner)
          @manager = manager
          @owner = owner
        end

        def call(input)
          @manager.operate(tool_name, input.to_h, context&.agent_operation_id, context&.cancellation_token, context&.deadline)
        end

        def close
          @manager.close if @owner
        end
      end
    end
  end
end
