# frozen_string_literal: true

module LittleGhost
  class Configuration
    # The one Runtime that standalone entrypoints share: open, then building, then built. No lock is
    # held while the build runs the application's code; who else wants the Runtime waits.
    class SharedRuntime # :nodoc:
      KEY = :little_ghost_runtime_build
      private_constant :KEY

      def initialize(configuration)
        @configuration = configuration
        @lock = Mutex.new
        @changed = ConditionVariable.new
        @runtime = nil
        @building = @loading = false
      end

      def fetch
        @runtime || acquire || build
      end

      # Runs the configuration file, which may still write.
      def loading
        before = @loading
        @loading = true
        yield
      ensure
        @loading = before
      end

      def check_read
        return if !@building || inside?

        raise ConfigurationError, "the shared runtime is being built; read settings before or after that"
      end

      def check_write
        raise ConfigurationError, "the shared runtime is built; configure LittleGhost before the first agent runs" if @runtime
        return unless @building
        return if @loading && inside?

        raise ConfigurationError, "the shared runtime is being built; configure LittleGhost before that"
      end

      private

      # Threads and fibers that the build starts are part of it.
      def inside?
        ExecutionState[KEY].equal?(self)
      end

      # The Runtime that somebody else built meanwhile, or nil when the caller has to.
      def acquire
        if @building && inside?
          raise ConfigurationError, "the shared runtime is just being built; it cannot be used by the configuration file, " \
            "hooks or definitions while they load"
        end

        @lock.synchronize do
          @changed.wait(@lock) while @building
          @building = true if @runtime.nil?
          @runtime
        end
      end

      def build
        runtime = ExecutionState.with({KEY => self}) { Runtime.new(configuration: @configuration) }
        @configuration.seal
        @runtime = runtime
      ensure
        @lock.synchronize do
          @building = false
          @changed.broadcast
        end
      end
    end
  end
end
