# frozen_string_literal: true

module LittleGhost
  class Run
    # What one participant of an assembly has for itself while it works: its assembly, its request, its state.
    class Part # :nodoc:
      attr_reader :agent_path, :around, :conversation_id, :entrypoint, :invocation, :run, :scope, :shared_state, :tool_values

      # From what the engine says of an opening, and the entry of the table.
      def initialize(run, participant, payload)
        @run = run
        @scope = payload.fetch("scope")
        @participant = participant
        @around = participant.around
        @agent_path = payload["agent_path"]
        @conversation_id = payload["conversation_id"]
        @crowded = payload["crowded"]
        @shared_state = DataMap.new(payload["context"])
        @invocation = run.invocation.for_part(
          message: Message.build(payload["message"]), history: payload["history"].map { |message| Message.build(message) }.freeze,
          context: @shared_state, settings: payload["settings"], deadline_at: payload["deadline_at"]&.then { |seconds| Time.at(seconds) }
        )
        @tool_values = ToolValues.new
        @entrypoint = participant.build(self)
      end

      # The agent as the engine needs it. What it declares itself wins over what its assembly gives it.
      def declaration
        entrypoint.declaration(invocation, around.locals.merge(entrypoint.prompt_locals), self)
      end

      # The context of one tool call.
      def tool_context(token, operation_id)
        @tool_context ||= RunContext.new(
          state: shared_state, cancellation_token: run.cancellation_token, deadline: invocation.deadline_at, conversation_id: conversation_id
        )
        @tool_context.bind(run: self, cancellation_token: token, agent_operation_id: operation_id)
      end

      def close
        @participant.release(entrypoint)
      end

      # Calls the block once #close has something to do, so that the run need not wait for another one.
      def when_closable(&told) = @participant.when_closable(entrypoint, &told)

      # Whether others may be at work at the same time.
      def crowded? = @crowded || around.company.crowded?

      # The engine does not ask for the state of a part; but its code can reach that of the run.
      def stateless? = run.stateless?

      def runtime = run.runtime

      def cancellation_token = run.cancellation_token

      def provider_parts = entrypoint.model.provider.parts

      def usage_so_far = run.usage_so_far

      # What takes part is known to the whole run.
      def parts = run.parts

      def owner = run.owner

      def premises = run.premises
    end
  end
end
