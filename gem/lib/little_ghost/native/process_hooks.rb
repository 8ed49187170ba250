# frozen_string_literal: true

module LittleGhost
  module Native
    # Tells the engine about a new process. It is keyed by process id anyway; this states the moment.
    module ForkHook # :nodoc:
      def _fork
        pid = super
        Native.after_fork_in_child if pid.zero?
        pid
      end

      # Ruby's daemon forks without _fork.
      def daemon(...)
        result = super
        Native.after_fork_in_child
        result
      end
    end
    private_constant :ForkHook

    Process.singleton_class.prepend(ForkHook)
  end
end

# An exit must not wait for work that nobody will read.
at_exit { LittleGhost::Native.cancel_all }
