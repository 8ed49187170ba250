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

      # See Sandbox#execute_program. Programs start in the workspace's root, or in +cwd+ below it.
      def execute_program(command, timeout:, context: nil, max_output_bytes: nil, environment: {}, inherit_environment: false,
        scope: nil, cwd: nil, allow_subprocesses: nil)
        program = Programs.describe(
          command, environment: environment, inherit_environment: inherit_environment, cwd: cwd, allow_subprocesses: allow_subprocesses
        )
        program.update("op" => "execute", "timeout" => Float(timeout), "max_output_bytes" => max_output_bytes)
        Programs.execution(Native::JobWait.finish((scope || self).engine.perform(program), context))
      end

      # See Sandbox#start_program. Raises CapabilityError when it cannot keep the program from starting others, and
      # +allow_subprocesses+ is false.
      def start_program(command, context: nil, environment: {}, inherit_environment: false, scope: nil, cwd: nil,
        output_bytes: nil, memory_bytes: nil, cpu_seconds: nil, file_bytes: nil, allow_subprocesses: true)
        program = Programs.describe(
          command, environment: environment, inherit_environment: inherit_environment, cwd: cwd, output_bytes: output_bytes,
          memory_bytes: memory_bytes, cpu_seconds: cpu_seconds, file_bytes: file_bytes, allow_subprocesses: allow_subprocesses
        )
        handle = (scope || self).engine
        started = Native::JobWait.finish(handle.perform(program.merge("op" => "start")), context)
        ProcessSession.wrap(handle.process(started.fetch("process")))
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

      def become(command, scope, **options)
        Native::JobWait.finish((scope || self).engine.perform(Programs.describe(command, **options).merge("op" => "exec")))
      end
    end
  end
end
