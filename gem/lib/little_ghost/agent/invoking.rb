# frozen_string_literal: true

module LittleGhost
  class Agent
    # Invocations of one agent object: through a Run by an entrypoint, else by itself.
    module Invoking # :nodoc:
      EXCHANGES = Mutex.new
      private_constant :EXCHANGES

      # Streams one invocation. An entrypoint makes a Run of it, as Assembly#stream_ask does, and returns its
      # EventStream. An agent that was built with a model, tools or limits of its own answers without a Run: the stream,
      # an Enumerator that can be read once, has the agent's own events only, its +each+ returns the
      # RunResult, and it raises what goes wrong. There +input+ may be nil to go on with +history+.
      #
      # +history+, +context+, +settings+ and +template_paths+ (TrustedPath values) belong to the request; other
      # options are its application fields. Without a Run there are also +template_locals+, a Hash for the prompt;
      # +checkpoint+, called with messages and state whenever they are worth keeping; +interject_ready+, called when
      # #interject can be used; +parent_operation_id+, for telemetry; +conversation_id+,
      # +interjection_metadata+ and +interjection_ids+, for the RunContext.
      def stream(input = nil, history: nil, context: nil,
        cancellation_token: run ? run.cancellation_token : Support::CancellationToken.new, deadline: nil, settings: nil,
        template_locals: nil, template_paths: nil, parent_operation_id: nil, checkpoint: nil, conversation_id: nil,
        interjection_metadata: nil, interjection_ids: [], interject_ready: nil, **options)
        fields = {history: history, context: context, settings: settings, template_paths: template_paths, deadline_at: deadline}.compact
        own = {
          template_locals: template_locals, parent_operation_id: parent_operation_id, checkpoint: checkpoint,
          conversation_id: conversation_id, interjection_metadata: interjection_metadata, interject_ready: interject_ready
        }.compact
        own[:interjection_ids] = interjection_ids unless interjection_ids.empty?
        return begin_exchange(input, options.merge(fields), cancellation_token, own) if @built
        return stream_ask(input, **options, **fields, cancellation_token: cancellation_token) if own.empty?

        raise ArgumentError, "#{own.keys.first} is for an agent without a Run of its own, as new(model: ...) builds it"
      end

      # As Run#interject. With +target_operation_id+, says it to the invocation of that operation.
      def interject(message, cancellation_token: Support::CancellationToken.new, deadline: nil, target_operation_id: nil,
        interjection_id: nil, batch_key: nil, metadata: {})
        fields = {
          interjection_id: interjection_id, batch_key: batch_key, metadata: metadata, cancellation_token: cancellation_token,
          deadline: deadline, target_operation_id: target_operation_id
        }
        exchange, *others = @exchanges
        raise AgentInterjectionError, "this agent streams #{others.length + 1} invocations at once; use one agent for each" if others.any?
        return exchange.deliver(Interjection.new(message, **fields)) if exchange
        return run.deliver(message, **fields) if run&.entrypoint.equal?(self)

        raise AgentInterjectionError, "this agent is not at work; interject while it streams, or through its Run or Execution"
      end

      # As Assembly#as_tool, of an entrypoint.
      def as_tool(**options)
        runless! if @built && run.nil?
        super
      end

      private

      def begin_exchange(input, payload, cancellation_token, own)
        if run&.entrypoint.equal?(self)
          raise Error, "the run streams this agent; build another one to invoke it from inside"
        end

        payload = payload.transform_keys(&:to_s)
        payload["deadline_at"] ||= run.invocation.deadline_at if run
        exchange = Exchange.new(self, input, payload, cancellation_token: cancellation_token, **own)
        Enumerator.new { |events| at_work(exchange) { exchange.call { |event| events << event } } }
      end

      def at_work(exchange)
        EXCHANGES.synchronize { @exchanges = [*@exchanges, exchange].freeze }
        yield
      ensure
        EXCHANGES.synchronize { @exchanges = @exchanges.reject { |other| other.equal?(exchange) }.freeze }
      end

      def prepare(message, options, streamed: false)
        runless! if @built && run.nil?
        super
      end

      def runless!
        raise Error, "this #{self.class.agent_id} was built with a model, tools or limits of its own and has no Run; " \
          "use stream, or declare them on the class"
      end
    end
  end
end
