# frozen_string_literal: true

module LittleGhost
  module CodeMode
    # The sandboxes that this process made for programs of the engine's. The engine only knows their numbers, and opens and
    # closes only what is its own.
    class MadeSandboxes # :nodoc:
      def initialize
        @made = []
        @lock = Mutex.new
      end

      # What the engine asks for: a sandbox of +factory+ over a workspace of the engine's.
      def create(factory, payload)
        workspace = Workspace.adopt(payload.fetch("workspace"))
        sandbox = factory.call(workspace: workspace, required_runtime_paths: payload.fetch("runtime_paths"))
        @lock.synchronize { @made << sandbox }
        sandbox.own_engine? ? sandbox.attach : sandbox.open
        Native::SandboxCalls.describe(sandbox)
      end

      # Closes them all, the last one first. Raises the first failure once all of it was tried.
      def close
        made = @lock.synchronize { @made.slice!(0..) }
        problems = made.reverse.filter_map { |sandbox| problem_of(sandbox) }
        raise problems.first unless problems.empty?
      end

      private

      def problem_of(sandbox)
        sandbox.own_engine? ? sandbox.detach : sandbox.close
        nil
      rescue StandardError => error
        error
      end
    end
  end
end
