# frozen_string_literal: true

module LittleGhost
  module Support
    class Callbacks
      # What a callback decided.
      class Decision # :nodoc:
        # Why the work stops, or nil.
        attr_reader :reason
        # The new payload.
        attr_reader :value

        def initialize(kind:, value: nil, reason: nil)
          @kind = kind
          @value = value
          @reason = reason
          freeze
        end

        def continue? = @kind == :continue

        def cancel? = @kind == :cancel

        def replace? = @kind == :replace

        CONTINUE = new(kind: :continue)
      end
    end
  end
end
