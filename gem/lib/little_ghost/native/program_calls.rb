# frozen_string_literal: true

module LittleGhost
  module Native
    # What the engine asks of code mode in a run: engines and sessions of the application, and sandboxes that it makes.
    class ProgramCalls # :nodoc:
      def initialize(handle)
        @handle = handle
        @made = CodeMode::MadeSandboxes.new
        @sessions = {}
        @last = 0
        @lock = Mutex.new
      end

      # Answers one call, for the agent that +subject+, a run or a part of it, is at work with. +token+ is cancelled when
      # nobody waits for the answer any more.
      def perform(subject, payload, token)
        declaration = subject.entrypoint.code_mode
        case payload["op"]
        when "instructions" then declaration.engine.instructions(catalog: payload["catalog"]).to_s
        when "open" then open(subject, declaration, payload, subject.tool_context(token, @handle.operation_id))
        when "sandbox" then @made.create(declaration.factory, payload)
        else operate(payload, subject.tool_context(token, @handle.operation_id))
        end
      end

      def close(key)
        @lock.synchronize { @sessions.delete(key) }&.close
        nil
      end

      # Closes the sandboxes that were made. All programs are over.
      def release
        @made.close
      end

      private

      def open(subject, declaration, payload, context)
        broker = CodeMode::Broker.new(
          agent: subject.entrypoint, context: context, except: declaration.except, dispatch: dispatch(payload["broker"])
        )
        session = declaration.engine.open_session(broker: broker, sandbox_factory: declaration.factory, limits: declaration.limits)
        raise ConfigurationError, "#{declaration.engine.class}#open_session must return a CodeMode::Session" unless session.is_a?(CodeMode::Session)

        {"session" => keep(session)}
      end

      # Calls of programs go through the engine, like those of models.
      def dispatch(broker)
        lambda do |tool_use|
          called = JobWait.answer(@handle.call_tool_of_program(broker, tool_use.name, ToolValue.data(tool_use.input), tool_use.id))
          CodeMode::Broker::CallResult.new(id: called["id"], value: called["value"], error: called["error"])
        end
      end

      def keep(session)
        @lock.synchronize do
          @last += 1
          @sessions[@last] = session
          @last
        end
      end

      def operate(payload, context)
        session = @lock.synchronize { @sessions.fetch(payload["session"]) }
        options = {max_output_tokens: payload["max_output_tokens"], context: context}
        result = case payload["op"]
        when "execute" then session.execute(source: payload["source"], catalog: payload["catalog"], frame: payload["frame"], **options)
        when "wait" then session.wait(**options)
        else session.stop(**options)
        end
        raise Error, "#{session.class}##{payload["op"]} must return a CodeMode::ProgramResult, got #{result.class}" unless result.is_a?(CodeMode::ProgramResult)

        result.to_engine
      end
    end
  end
end
