# frozen_string_literal: true

module LittleGhost
  class Configuration
    # Settings that every Configuration of the process reads and writes alike.
    module ProcessSettings # :nodoc:
      # Reads or sets how many threads LittleGhost.offload_blocking may use: 2 unless set. Raises
      # ArgumentError for anything but a positive Integer, and ConfigurationError once they have started.
      def blocking_pool_capacity(value = Settings::UNSET)
        self.blocking_pool_capacity = value unless Settings::UNSET.equal?(value)
        Native::BlockingPool.capacity
      end

      def blocking_pool_capacity=(value)
        Native::BlockingPool.capacity = value
      end

      # Reads or sets where events are written as JSON lines: +:stdout+, +:stderr+, or nil for nowhere.
      def log_events_to(destination = Settings::UNSET)
        self.log_events_to = destination unless Settings::UNSET.equal?(destination)
        Events.console_output
      end

      def log_events_to=(destination)
        Events.console_output = destination
      end
    end
  end
end
