# frozen_string_literal: true

require "timeout"

# An exception of the application, as a tool of a case may raise it. Models see its whole name.
class Boom < StandardError
end

module Conformance
  # The tools of one run, and what they know of each other.
  class Toolbox
    # Nothing waits longer than this: a tool that waits in vain must fail its case.
    PATIENCE = 10

    def initialize
      @lock = Mutex.new
      @changed = ConditionVariable.new
      @running = @met = 0
      @finished = []
    end

    def tool(spec)
      box = self
      Class.new(LittleGhost::Tool) do
        tool_name spec["name"]
        description spec["description"]
        input_schema spec["input_schema"]
        exclusive spec["exclusive"]
        define_method(:call) { |input| box.perform(spec, input, self) }
      end
    end

    def perform(spec, input, tool)
      running = @lock.synchronize { @running += 1 }
      act(spec["behaviour"], input, tool, running)
    ensure
      @lock.synchronize do
        @running -= 1
        @finished << spec["name"]
        @changed.broadcast
      end
    end

    private

    def act(behaviour, input, tool, running)
      kind, argument = behaviour.is_a?(Hash) ? behaviour.first : behaviour
      case kind
      when "return" then argument
      when "echo" then input
      when "tool_error" then raise LittleGhost::ToolError, argument
      when "raise" then raise Object.const_get(argument["class"]), argument["message"]
      when "cancel" then raise LittleGhost::CancelledError, "the tool gave up"
      when "cancel_run" then cancel_run(tool)
      when "add_state" then tool.context.state.merge!(argument) && nil
      when "read_state" then tool.context.state[argument]
      when "after"
        wait { @finished.include?(argument) }
        "after #{argument}"
      when "meet"
        @lock.synchronize { @met += 1 } && @lock.synchronize { @changed.broadcast }
        wait { @met >= argument }
        "met"
      when "running" then running
      else raise ArgumentError, "unknown behaviour #{behaviour}"
      end
    end

    def cancel_run(tool)
      tool.run.cancellation_token.cancel
      tool.context.cancellation_token.wait(PATIENCE)
      tool.context.cancellation_token.raise_if_cancelled!
    end

    def wait
      Timeout.timeout(PATIENCE) do
        @lock.synchronize { @changed.wait(@lock) until yield }
      end
    end
  end
end
