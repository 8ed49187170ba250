# frozen_string_literal: true

module LittleGhost
  class Agent
    # The checked limits of one agent. What is not given is left to the engine's defaults.
    class Limits # :nodoc:
      NAMES = %i[max_turns max_tool_calls max_tool_result_tokens].freeze
      private_constant :NAMES

      def initialize(values)
        unknown = values.keys - NAMES - [:model_settings]
        raise ArgumentError, "limits: unknown keyword #{unknown.first.inspect}; there are #{NAMES.join(", ")} and model_settings" if unknown.any?

        @values = values.slice(*NAMES).to_h { |name, value| [name, count(name, value)] }
        settings = values[:model_settings]
        raise ArgumentError, "limits: model_settings must be a Hash, got #{settings.class}" unless settings.nil? || settings.is_a?(Hash)

        @values[:model_settings] = settings if settings
        @values.freeze
      end

      # The most tool calls of one invocation.
      def max_tool_calls
        @values.fetch(:max_tool_calls, 1_000)
      end

      def to_engine
        @values
      end

      private

      def count(name, value)
        number = Integer(value)
        return number if number.positive?

        raise ArgumentError, "limits: #{name} must be at least 1, got #{number}"
      rescue TypeError
        raise ArgumentError, "limits: #{name} must be a number, got #{value.class}"
      end
    end
  end
end
