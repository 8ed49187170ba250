# frozen_string_literal: true

module LittleGhost
  class Assembly
    # How long a participant may take, and how often it is tried. The engine checks the numbers.
    class Policy < Data.define(:timeout, :retries, :retry_on, :retry_delay) # :nodoc:
      def initialize(timeout: nil, retries: 0, retry_on: nil, retry_delay: 0)
        classes = retry_on.nil? ? nil : Policy.exceptions("retry_on", retry_on)
        super(timeout: timeout, retries: retries, retry_on: classes, retry_delay: retry_delay)
      end

      # +value+ as an Array of exception classes.
      def self.exceptions(name, value)
        classes = Array(value)
        return classes.dup.freeze if classes.any? && classes.all? { |type| type.is_a?(Class) && type <= Exception }

        raise ArgumentError, "#{name} takes one or more exception classes, got #{value.inspect}"
      end

      # As the engine takes it.
      def describe(table)
        plain = {"timeout" => timeout, "retries" => retries, "retry_delay" => retry_delay}.compact
        plain.each do |name, value|
          next if value.is_a?(Integer) || (value.is_a?(Float) && value.finite?)
          next plain[name] = value.to_f if value.is_a?(Numeric) && value.respond_to?(:to_f) && value.to_f.finite?

          raise ArgumentError, "#{name} must be a finite number, got #{value.inspect}"
        end
        plain["retry_on"] = table.code(retry_on) if retry_on
        plain
      end
    end
  end
end
