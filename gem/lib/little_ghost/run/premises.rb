# frozen_string_literal: true

module LittleGhost
  class Run
    # The workspace and the sandbox of a run. Those that nobody declared are only made for whoever asks for them.
    module Premises # :nodoc:
      # The workspace of this run: the one that was given or declared, else the application's root. Nil after a run that did
      # not need one.
      def workspace
        @workspace || @premises_lock.synchronize { provide_workspace }
      end

      # The sandbox of this run: the one that was given or declared, else one that contains nothing and can read the
      # workspace. Nil after a run that did not need one.
      def sandbox
        @sandbox || @premises_lock.synchronize { provide_sandbox }
      end

      # Those that there are by now.
      def premises # :nodoc:
        {workspace: @workspace, sandbox: @sandbox}
      end

      # Takes over resources that were built for this run.
      def own(*resources) # :nodoc:
        @owned = resources.compact
        @owned.each { |resource| register(resource) if resource.respond_to?(:close) }
      end

      private

      def provide_workspace
        @workspace ||= @sandbox&.workspace || provide { runtime.build_workspace(invocation: invocation) }
      end

      def provide_sandbox
        within = provide_workspace
        @sandbox ||= provide { runtime.build_sandbox(workspace: within, invocation: invocation) } if within
      end

      def provide
        return if @handle.nil?

        resource = yield
        register(resource)
        @premises_open ? resource.open(run: self) : @owned += [resource]
        resource
      end

      def open_premises
        @owned.each { |resource| resource.open(run: self) if resource.respond_to?(:open) }
        @premises_open = true
      end
    end
  end
end
