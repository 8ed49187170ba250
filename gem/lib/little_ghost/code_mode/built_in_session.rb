# frozen_string_literal: true

module LittleGhost
  module CodeMode
    # A session of one of the library's own engines. Calls that a program makes between two operations are answered by the
    # next one.
    class BuiltInSession < Session # :nodoc:
      def initialize(engine, broker, sandbox_factory, limits)
        super()
        @broker = broker
        @factory = SandboxFactory.coerce(sandbox_factory)
        catalog = broker.catalog.map { |tool| Native::ToolValue.data(tool) }
        @native = Native::ProgramSession.open(engine, catalog, @factory.declaration, Native::ToolValue.data(limits))
        @made = MadeSandboxes.new
        @lock = Mutex.new
      end

      def execute(source:, catalog:, frame: nil, max_output_tokens: nil, context: nil)
        input = {
          "source" => source, "catalog" => catalog.map { |tool| Native::ToolValue.data(tool) }, "frame" => Native::ToolValue.data(frame),
          "max_output_tokens" => max_output_tokens
        }
        operate("execute", input, context)
      end

      def wait(max_output_tokens: nil, context: nil)
        operate("wait", {"max_output_tokens" => max_output_tokens}, context)
      end

      def stop(max_output_tokens: nil, context: nil)
        operate("stop", {"max_output_tokens" => max_output_tokens}, context)
      end

      def close
        alone { converse("close", {}, nil) }
        nil
      ensure
        @made.close
      end

      # Shows no values of the environment that programs get.
      def inspect
        "#<#{self.class} #{@factory.inspect}>"
      end

      private

      def operate(operation, input, context)
        ProgramResult.build(alone { converse(operation, input, context) })
      end

      def converse(operation, input, context)
        Native::ProgramDialogue.new(@native, method(:perform)).answer(@native.operate(operation, input), context)
      end

      def alone
        raise ToolError, "Another exec, wait or stop is still going on; make one of these calls at a time." unless @lock.try_lock

        begin
          yield
        ensure
          @lock.unlock
        end
      end

      def perform(kind, payload)
        return Native::SandboxCalls.perform(payload) unless kind == :code_mode
        return @made.create(@factory, payload) if payload["op"] == "sandbox"

        called = @broker.call(payload["name"], payload["arguments"], id: payload["id"])
        {"value" => Native::ToolValue.data(called.value), "error" => called.error}
      end
    end
  end
end
