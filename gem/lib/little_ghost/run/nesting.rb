# frozen_string_literal: true

module LittleGhost
  class Run
    # Which runs wait for the code that a fiber runs now: their consumers, callbacks and tools. That code would wait for
    # ever for anything that those runs have to do or to give up.
    module Nesting # :nodoc:
      KEY = :little_ghost_nesting
      private_constant :KEY

      class << self
        # +run+ waits for the block.
        def within(run, &block)
          ExecutionState.with({KEY => [*ExecutionState[KEY], [run, Fiber.current]].freeze}, &block)
        end

        # The runs that wait for the current fiber.
        def runs
          ExecutionState[KEY].to_a.filter_map { |run, fiber| run if fiber.equal?(Fiber.current) }
        end

        def include?(run)
          runs.any? { |other| other.equal?(run) }
        end
      end
    end
  end
end
