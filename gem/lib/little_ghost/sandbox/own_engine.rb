# frozen_string_literal: true

module LittleGhost
  class Sandbox
    # What sandboxes of the engine's own share.
    module OwnEngine # :nodoc:
      attr_reader :engine # :nodoc:

      def capabilities # :nodoc:
        Capabilities.build(engine.info["capabilities"])
      end

      def effective_policy # :nodoc:
        @effective_policy ||= Policy.enforced(engine.info["effective_policy"], policy)
      end

      def open(run: nil) # :nodoc:
        engine_does({"op" => "open"}, nil)
        # What is enforced may depend on what was found.
        @effective_policy = nil
        self
      end

      def close # :nodoc:
        engine_does({"op" => "close"}, nil)
      end

      # Lets objects of the application answer what the engine asks of them, until #detach.
      def attach # :nodoc:
      end

      def detach # :nodoc:
      end

      # Whether the engine starts the programs.
      def own_engine? = true # :nodoc:

      private

      def build_engine(kind, **options)
        declared = options.compact.transform_keys(&:name)
        @engine = Native::Sandbox.build(kind, workspace.native, declared.merge("policy" => policy.declaration, "limits" => limits.to_h))
      end

      def run_program(command, timeout, context, max_output_bytes, scope, **options)
        program = Programs.describe(command, **options)
        program.update("op" => "execute", "timeout" => Float(timeout), "max_output_bytes" => max_output_bytes)
        Programs.execution(Native::JobWait.finish((scope || self).engine.perform(program), context))
      end

      def begin_program(command, context, scope, **options)
        handle = (scope || self).engine
        started = Native::JobWait.finish(handle.perform(Programs.describe(command, **options).merge("op" => "start")), context)
        ProcessSession.wrap(handle.process(started.fetch("process")))
      end

      def become(command, scope, **options)
        Native::JobWait.finish((scope || self).engine.perform(Programs.describe(command, **options).merge("op" => "exec")))
      end
    end
  end
end
