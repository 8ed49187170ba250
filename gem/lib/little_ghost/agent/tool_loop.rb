# frozen_string_literal: true

module LittleGhost
  class Agent
    # Stops an agent that repeats a tool call without getting anywhere: the same tool, the same arguments,
    # the same result, within one invocation.
    #
    #   class CustomerSupportAgent < LittleGhost::Agent
    #     detect_tool_loops warning_at: 3, terminate_at: 5, except: AccountRefreshTool
    #   end
    #
    # The third such result tells the model to change its approach, the fourth warns it for the last time;
    # the fifth call does not run, and the run fails with ToolLoopError. A changed result starts the
    # count anew.
    module ToolLoop
      # What agent classes declare.
      module ClassMethods
        # Turns detection on for the class and its subclasses. +except+ names tools that may be repeated: classes,
        # instances, Strings or Symbols. Raises ArgumentError unless +warning_at+ is at least 2 and +terminate_at+ greater.
        def detect_tool_loops(warning_at: 3, terminate_at: 5, except: [])
          names = (except.is_a?(Array) ? except : [except]).map { |tool| loop_exception(tool) }
          options = {warning_at: warning_at, terminate_at: terminate_at, except: names.freeze}
          Native.check_agent("tool_loop" => options)
          @tool_loop = options.freeze
        end

        # The options in force, or nil.
        def tool_loop # :nodoc:
          @tool_loop || (superclass.tool_loop unless equal?(Agent) || @complete)
        end

        private

        def loop_exception(tool)
          return tool.to_s if tool.is_a?(String) || tool.is_a?(Symbol)
          return tool.tool_name if tool.respond_to?(:tool_name)

          raise ArgumentError, "except takes tool classes, instances and names, got #{tool.inspect}"
        end
      end
    end
  end
end
