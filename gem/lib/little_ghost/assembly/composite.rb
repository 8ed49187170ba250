# frozen_string_literal: true

module LittleGhost
  class Assembly
    # What assemblies that coordinate others have in common.
    module Composite # :nodoc:
      # As Assembly#stream_ask for an entrypoint. One that was built with a +run+ answers inside of it, once: the
      # Enumerator has the events of the coordination and of the final answer, its +each+ returns the RunResult, and
      # it raises what goes wrong. Only there are +template_locals+, a Hash for the prompts of the participants;
      # +checkpoint+, called with messages and state when they are worth keeping; and +parent_operation_id+, for
      # telemetry.
      def stream(input = nil, history: nil, context: nil, cancellation_token: nil, deadline: nil, settings: nil,
        template_locals: nil, template_paths: nil, parent_operation_id: nil, checkpoint: nil, **options)
        fields = {history: history, context: context, settings: settings, template_paths: template_paths, deadline_at: deadline}.compact
        own = {template_locals: template_locals, parent_operation_id: parent_operation_id, checkpoint: checkpoint}.compact
        return begin_exchange(input, options.merge(fields), cancellation_token || run.cancellation_token, own) if run
        return stream_ask(input, **options, **fields, **{cancellation_token: cancellation_token}.compact) if own.empty?

        raise ArgumentError, "#{own.keys.first} is for an assembly inside of a run, as new(run: ...) builds it"
      end

      # The assembly as the engine needs it, to answer +work+.
      def declaration(_invocation, _locals, work) # :nodoc:
        {"assembly" => self.class.describe(work.parts.table, work.around, self)}
      end

      private

      def begin_exchange(input, payload, cancellation_token, own)
        raise Error, "this #{self.class.assembly_kind} streams only once; build another one" if @streamed

        @streamed = true
        if run.entrypoint.equal?(self)
          raise Error, "the run streams this #{self.class.assembly_kind}; build another one to invoke it from inside"
        end

        payload = payload.transform_keys(&:to_s)
        payload["deadline_at"] ||= run.invocation.deadline_at
        exchange = Agent::Exchange.new(self, input, payload, cancellation_token: cancellation_token, **own)
        Enumerator.new { |events| exchange.call { |event| events << event } }
      end
    end
  end
end
