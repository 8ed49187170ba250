# frozen_string_literal: true

module LittleGhost
  module Testing
    # What blocks of Testing put over the engines of runtimes.
    module Overlay # :nodoc:
      KEY = :little_ghost_testing
      private_constant :KEY

      @everywhere = [].freeze
      @lock = Mutex.new

      # Prepended to Runtime: a run begins on the engine that is current then.
      module Engine # :nodoc:
        def engine
          Overlay.layers.reduce(super) { |engine, layer| layer.over(engine) }
        end
      end

      class << self
        # Outermost first, those of all threads before those of this one.
        def layers
          @everywhere + (ExecutionState[KEY] || [])
        end

        def apply(layer, everywhere:, &block)
          return ExecutionState.with({KEY => [*ExecutionState[KEY], layer].freeze}, &block) unless everywhere

          @lock.synchronize { @everywhere = [*@everywhere, layer].freeze }
          begin
            yield
          ensure
            @lock.synchronize { @everywhere = @everywhere.reject { |other| other.equal?(layer) }.freeze }
          end
        end
      end
    end
  end
end
