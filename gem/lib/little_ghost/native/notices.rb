# frozen_string_literal: true

module LittleGhost
  module Native
    # Passes on what the engine tells besides a run's events.
    module Notices # :nodoc:
      SYMBOLS = %i[entrypoint_kind outcome event_kind action reason validation_status strategy assembly_kind].freeze
      private_constant :SYMBOLS

      class << self
        # What subscribers want of +run+, as it is started.
        def wanted(run)
          bus = Instrumentation.notifier
          parent = run.engine_parent || bus.current&.operation_id
          attributes = {"service_name" => run.runtime && run.runtime.settings[:service_name].to_s, "parent_operation_id" => parent}
          {"instrument" => true, "diagnostics" => bus.captures?, "attributes" => attributes.compact}
        end

        # To the application's listeners of events.
        def report(notice)
          Events.emit(notice["level"], notice["name"], notice["payload"].transform_keys(&:to_sym))
        end

        # To the subscribers of instrumentation.
        def measure(instrument)
          attributes = instrument["attributes"].to_h do |key, value|
            key = key.to_sym
            [key, SYMBOLS.include?(key) && value.is_a?(String) ? value.to_sym : value]
          end
          Instrumentation.notifier.relay(instrument["phase"].to_sym, instrument["name"].to_sym, attributes)
        end
      end
    end
  end
end
