# frozen_string_literal: true

module LittleGhost
  # Everything about one tool call: the model's +tool_use+, the bound +tool+, its +context+ (a RunContext), the
  # +events+ around it, and where it stands in telemetry: +operation_id+, +parent_operation_id+ and
  # +parent_trace_context+.
  class ToolExecution < Data.define(
    :tool_use, :tool, :context, :events, :operation_id, :parent_operation_id, :parent_trace_context
  )
  end
end
