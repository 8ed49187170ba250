# frozen_string_literal: true

module LittleGhost
  class Agent
    # One invocation of an agent without a Run around it. A Native::Pump drives it like a run.
    class Exchange # :nodoc:
      attr_reader :cancellation_token, :entrypoint, :invocation, :runtime, :session, :shared_state, :tool_values

      # +input+ may be nil when the payload has a +history+ to go on with.
      def initialize(agent, input, payload, cancellation_token:, template_locals: nil, parent_operation_id: nil,
        checkpoint: nil, interject_ready: nil, **context)
        @entrypoint = agent
        @runtime = agent.runtime
        @cancellation_token = cancellation_token
        @continues = input.nil?
        @invocation = @runtime.parse(payload.merge("message" => @continues ? last(payload) : input))
        @template_locals = template_locals || {}
        @parent_operation_id = parent_operation_id
        @interject_ready = interject_ready
        @shared_state = DataMap.new(@invocation.context)
        @tool_values = Run::ToolValues.new
        @context = context(checkpoint, context)
        @handle = Native::Handle.new(@runtime.engine, request, cancellation_token.native)
        open_session(checkpoint) if checkpoint
      end

      # Yields the events and returns the RunResult. Raises what went wrong.
      def call(&consumer)
        Native::Concurrency.check(@runtime.concurrency_backend)
        handle = @handle || raise(Error, "an agent's stream is read once; call stream again")
        pump = Native::Pump.new(self, handle)
        Run::Nesting.within(self) { observed { pump.drive(announcing(consumer)) } }
        @result
      end

      def deliver(interjection)
        handle = @handle || raise(AgentInterjectionError, "the agent is done and takes no more interjections")
        raise AgentInterjectionError, Run::Interjections::FROM_INSIDE if Run::Nesting.include?(self)

        interjection.deliver(handle)
      end

      # What the Pump asks of a run.

      def engine_kind = "agent"

      def engine_hooks = []

      def engine_parent = @parent_operation_id

      def open_entrypoint
        entrypoint.declaration(@invocation, @template_locals, self).merge("state" => shared_state)
      end

      # The caller sees the state: the engine has to know it.
      def stateless? = false

      def note_state = shared_state

      def tool_context(token, operation_id)
        @context.bind(run: self, cancellation_token: token, agent_operation_id: operation_id)
      end

      def provider_parts = entrypoint.model.provider.parts

      def usage_so_far
        @handle ? Native::EventBuilder.usage(@handle.report["usage"]) : @result&.usage || Usage.new
      end

      def take_result(hash)
        hash.key?("scope") ? result_of(hash) : @result ||= result_of(hash)
      end

      def result_of(hash)
        Native::EventBuilder.run_result(hash, hash.key?("scope") ? parts.state(hash["scope"]) : shared_state)
      end

      def parts
        @parts ||= Run::Parts.new(self)
      end

      def owner = entrypoint.run

      def around = Native::Surroundings.new(locals: @template_locals)

      def workspace = entrypoint.workspace

      def sandbox = entrypoint.sandbox

      def premises = entrypoint.premises

      def settle(_report, _exceptions)
      end

      def finish(_report, _exceptions)
        @result ||= @handle.result&.then { |result| result_of(result.to_h) }
        @handle = nil
      end

      private

      def last(payload)
        Array(payload["history"]).last || raise(InvocationError, "stream needs an input, or a history to go on with")
      end

      def request
        whole = @invocation.to_engine
        @continues ? whole.except("message").merge("without_message" => true) : whole
      end

      def context(checkpoint, fields)
        RunContext.new(
          state: shared_state, cancellation_token: cancellation_token, deadline: @invocation.deadline_at, checkpoint: checkpoint,
          **fields
        )
      end

      def open_session(checkpoint)
        store = CheckpointStore.new(@invocation.session_id) { |messages| checkpoint.call(messages, shared_state) }
        @session = Session.new(id: @invocation.session_id, store: store)
        @handle.use_session(@session.id.to_s, nil, {}, nil)
      end

      def observed(&block)
        return yield unless Instrumentation.listening?

        attributes = {
          invocation_id: @invocation.invocation_id.to_s, session_id: @invocation.session_id.to_s,
          agent_id: entrypoint.class.agent_id
        }
        Instrumentation.with_context(attributes, &block)
      end

      def announcing(consumer)
        return consumer unless @interject_ready

        lambda do |event|
          @interject_ready.call if event.type == :invocation_start
          consumer.call(event)
        end
      end
    end
  end
end
