# frozen_string_literal: true

require "securerandom"

module LittleGhost
  module CodeMode
    # What programs call tools through. It stays in this process: a program names a tool and gives arguments, and whether
    # that is a call is decided here.
    #
    #   broker = LittleGhost::CodeMode::Broker.new(registry: registry)
    #   broker.call("help_center_lookup", {query: "refunds"}).value
    class Broker
      # What came of a call: its +id+, the tool's +value+, and the +error+ that a program may know, or nil.
      CallResult = Data.define(:id, :value, :error) do
        def initialize(id:, value: nil, error: nil)
          super
        end
      end

      ORCHESTRATION = %w[
        spawn_subagent send_message_to_subagent interject_subagent wait_for_subagents list_subagents
      ].freeze
      private_constant :ORCHESTRATION

      # For the tools of +agent+ or of +registry+, but those in +except+. +dispatch+, if given, makes the calls: it gets a
      # Content::ToolUse and returns the value, or a CallResult. +max_calls+ is the most calls that are passed on. The other options
      # say where the calls stand in events and traces.
      def initialize(agent: nil, registry: nil, context: RunContext.new, events: [], parent_operation_id: nil,
        parent_trace_context: nil, except: nil, dispatch: nil, max_calls: nil)
        @registry = registry || agent&.tool_registry
        raise ArgumentError, "a broker needs an agent at work or a registry of tools" if @registry.nil?

        @agent = agent
        @context = context
        @events = events
        @parent_operation_id = parent_operation_id
        @parent_trace_context = parent_trace_context
        @excluded = [*CONTROLS, *ORCHESTRATION, *Array(except).map(&:to_s)].freeze
        @dispatch = dispatch
        @left = max_calls
        @lock = Mutex.new
      end

      # The specifications of the tools that programs may call: frozen Hashes with +name+, +description+ and +input_schema+.
      def catalog
        @catalog ||= @registry.specifications.filter_map { |tool| described(tool) }.freeze
      end

      # Calls the tool +name+, with or without a leading <tt>tools.</tt>. The arguments are checked like those of a model.
      # Raises CancelledError, DeadlineExceededError and CleanupError; every other failure is the result's +error+.
      def call(name, arguments = {}, id: SecureRandom.uuid)
        plain = name.to_s.delete_prefix("tools.")
        problem = refusal(plain, arguments)
        return CallResult.new(id: id, error: problem) if problem

        found = @dispatch ? @dispatch.call(Content::ToolUse.new(id: id, name: plain, input: arguments || {})) : perform(plain, arguments || {})
        found.is_a?(CallResult) ? found : CallResult.new(id: id, **result(found))
      end

      private

      def described(tool)
        name = tool[:name].to_s
        {"name" => name, "description" => tool[:description], "input_schema" => tool[:input_schema]}.freeze unless @excluded.include?(name)
      end

      def refusal(name, arguments)
        return "Tool #{name.inspect} is not available to code-mode programs." unless catalog.any? { |tool| tool["name"] == name }
        return "The arguments of #{name} must be an object." unless arguments.nil? || arguments.is_a?(Hash)

        "The limit of tool calls is reached." unless admit?
      end

      def admit?
        @lock.synchronize { @left.nil? || (@left -= 1) >= 0 }
      end

      def perform(name, arguments)
        @registry.fetch(name).execute(arguments, context: @context)
      end

      def result(found)
        return {value: found} unless found.is_a?(Tool::Outcome)

        (found.status == :error) ? {error: found.content} : {value: found.value}
      end
    end
  end
end
