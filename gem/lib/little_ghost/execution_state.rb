# frozen_string_literal: true

module LittleGhost
  # Values that belong to the current execution: scheduled fibers and threads that start inside
  # inherit them, others do not see them.
  module ExecutionState
    KEY = :little_ghost_execution_state
    EMPTY = {}.freeze
    private_constant :KEY, :EMPTY

    class << self
      # The value under +key+, or nil.
      def [](key)
        Fiber[KEY]&.[](key)
      end

      # Replaces the value under +key+.
      def []=(key, value)
        Fiber[KEY] = capture.merge(key => value).freeze
      end

      # The current values as a frozen Hash.
      def capture
        Fiber[KEY] || EMPTY
      end

      # Forgets +key+ and returns its value.
      def delete(key)
        value = self[key]
        Fiber[KEY] = capture.except(key).freeze
        value
      end

      # Adds +values+ while the block runs, then restores what was there.
      def with(values)
        before = Fiber[KEY]
        Fiber[KEY] = capture.merge(values).freeze
        yield
      ensure
        Fiber[KEY] = before
      end
    end
  end
end
