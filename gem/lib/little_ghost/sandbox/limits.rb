# frozen_string_literal: true

module LittleGhost
  class Sandbox
    # How much file operations and the output of processes may bring.
    class Limits
      # Most entries of a directory that is listed: 10,000.
      attr_reader :list_entries
      # Most bytes kept of each output stream of a process: 1,000,000.
      attr_reader :output_bytes
      # Most bytes of a file that is read: 1,000,000.
      attr_reader :read_bytes
      # Most bytes of a file that is written: 1,000,000.
      attr_reader :write_bytes

      # +value+ itself, or limits of a Hash.
      def self.coerce(value)
        value.is_a?(Limits) ? value : new(**value.to_h.transform_keys(&:to_sym))
      end

      # Raises ArgumentError for an unknown limit and for anything but a positive Integer.
      def initialize(**values)
        @values = Native::Sandbox.normalize("limits", values).freeze
        @list_entries, @output_bytes, @read_bytes, @write_bytes = @values.values_at("list_entries", "output_bytes", "read_bytes", "write_bytes")
        freeze
      end

      # All four by name, a frozen Hash with String keys.
      def to_h
        @values
      end

      def ==(other)
        other.is_a?(Limits) && to_h == other.to_h
      end
      alias_method :eql?, :==

      def hash
        to_h.hash
      end
    end
  end
end
