# frozen_string_literal: true

module LittleGhost
  module Native
    # Makes copies that nobody can change.
    module Freezing # :nodoc:
      class << self
        # +value+ itself, frozen with everything in it.
        def deep(value)
          case value
          when Hash then value.each_value { |nested| deep(nested) }.freeze
          when Array then value.each { |nested| deep(nested) }.freeze
          when String then value.freeze
          else value
          end
        end

        # +result+ with a state of its own, which is frozen.
        def result(result)
          result.with(state: deep(result.state.dup))
        end

        # A frozen copy of +exception+; itself when it cannot be copied.
        def exception(exception)
          exception&.dup&.freeze
        rescue StandardError
          exception
        end
      end
    end
  end
end
