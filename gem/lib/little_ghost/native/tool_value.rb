# frozen_string_literal: true

module LittleGhost
  module Native
    # What a tool returned, as the engine takes it.
    module ToolValue # :nodoc:
      INTEGERS = (-2**63...2**64)
      private_constant :INTEGERS

      class << self
        # Plain data: +value+ itself when it is some, else its text.
        def plain(value)
          case value
          when nil, true, false, Float, Array, Hash then value
          when Integer then INTEGERS.cover?(value) ? value : value.to_s
          when String then Text.utf8(value)
          else Text.utf8("#{value}") # interpolated, because a to_s may return anything
          end
        end

        # A copy of plain data with Strings for keys. What is none is its text.
        def data(value)
          case value
          when Hash, DataMap then value.to_h.to_h { |key, nested| [key.to_s, data(nested)] }
          when Array then value.map { |nested| data(nested) }
          when Symbol then value.name
          else plain(value)
          end
        end

        # JSON for something nested that only Ruby's own generator knows how to write.
        def json(value)
          require "json"
          JSON.generate(value)
        end
      end
    end
  end
end
