# frozen_string_literal: true

module LittleGhost
  module Events
    # Copies of what events carry: JSON-safe values only, so that a listener can neither change nor keep
    # something of the application.
    module Payload # :nodoc:
      MAX_DEPTH = 100
      private_constant :MAX_DEPTH

      class << self
        # A detached copy of +value+. Raises ArgumentError for what JSON cannot express.
        def copy(value, depth = 0)
          raise ArgumentError, "an event is nested deeper than #{MAX_DEPTH} levels; does it contain itself?" if depth > MAX_DEPTH

          case value
          when nil, true, false, Integer, Symbol then value
          when String then value.dup
          when Float then finite(value)
          when Array then value.map { |nested| copy(nested, depth + 1) }
          when Hash then value.each_pair.to_h { |key, nested| [key(key), copy(nested, depth + 1)] }
          else raise ArgumentError, "an event cannot carry a #{value.class}; pass text, numbers, Arrays and Hashes"
          end
        end

        private

        def finite(value)
          return value if value.finite?

          raise ArgumentError, "an event cannot carry #{value}"
        end

        def key(key)
          return key if key.is_a?(Symbol)
          return key.dup if key.is_a?(String)

          raise ArgumentError, "the keys of events are Strings or Symbols, got #{key.class}"
        end
      end
    end
  end
end
