# frozen_string_literal: true

module LittleGhost
  module Tools
    # Lets a model keep a plan that the application can show. Each call replaces the whole plan, which is
    # <tt>context.state["little_ghost.plan"]</tt>: a +plan_title+ and +todos+ with +id+, +title+, +status+ and
    # +details+. One todo at most is in progress.
    #
    #   class ResearchAgent < LittleGhost::Agent
    #     tools LittleGhost::Tools::WriteTodos
    #   end
    class WriteTodos < Tool
      STATE_KEY = "little_ghost.plan"
      private_constant :STATE_KEY

      tool_name "write_todos"
      description "Replaces the plan of the current work. Send all todos each time and keep their ids. Mark one todo as " \
        "in_progress before you start it, and as completed when it is done."
      input_schema(
        type: "object",
        properties: {
          plan_title: {type: "string", minLength: 1, maxLength: 80, pattern: "^\\P{Cc}+$"},
          todos: {
            type: "array", maxItems: 20,
            items: {
              type: "object",
              properties: {
                id: {type: "string", maxLength: 64, pattern: "^[a-z0-9][a-z0-9_-]*$"},
                title: {type: "string", minLength: 1, maxLength: 48},
                status: {type: "string", enum: %w[pending in_progress completed]},
                details: {type: %w[string null], maxLength: 4_000}
              },
              required: %w[id title status], additionalProperties: false
            }
          }
        },
        required: %w[plan_title todos], additionalProperties: false
      )

      # Stores the plan and returns a copy of it. Raises ToolError for several todos in progress and for
      # repeated ids.
      def call(input)
        plan = plan(input)
        ids = plan["todos"].map { |todo| todo["id"] }
        raise ToolError, "todo ids must be unique" unless ids.uniq.length == ids.length
        if plan["todos"].count { |todo| todo["status"] == "in_progress" } > 1
          raise ToolError, "only one todo may be in_progress"
        end

        store(plan)
        Support.deep_dup(plan)
      end

      # As Tool#execute, after white space around titles is removed.
      def execute(input, context: nil)
        super(input.is_a?(Hash) ? stripped(input) : input, context: context)
      end

      private

      def plan(input)
        input = stripped(input)
        todos = input.fetch("todos").map { |todo| todo.to_h.slice("id", "title", "status", "details") }
        {"plan_title" => input.fetch("plan_title"), "todos" => todos}
      end

      def store(plan)
        context.nil? ? (@plan = plan) : context.state[STATE_KEY] = plan
      end

      def stripped(input)
        plain = DataMap.new(input).to_h
        plain["plan_title"] = strip(plain["plan_title"])
        if plain["todos"].is_a?(Array)
          plain["todos"] = plain["todos"].map { |todo| todo.is_a?(Hash) && todo.key?("title") ? todo.merge("title" => strip(todo["title"])) : todo }
        end
        plain.compact
      end

      def strip(value)
        value.is_a?(String) ? value.strip : value
      end
    end
  end
end
