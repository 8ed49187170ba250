# frozen_string_literal: true

module LittleGhost
  class Sandbox
    # Whether child processes may inherit environment variables of this process, and which values they get.
    class EnvironmentPolicy
      # Variables that every program gets, a frozen Hash of Strings.
      attr_reader :values

      # +value+ itself, or the policy of a Hash: <tt>{inherit:, set:}</tt>, or just variables.
      def self.coerce(value)
        return value if value.is_a?(EnvironmentPolicy)

        normal = Declared.read("environment", value)
        new(inherit: normal["inherit"], values: normal["set"])
      end

      # Raises PolicyError for names and values that no process can get.
      def initialize(inherit: false, values: {})
        normal = Declared.read("environment", {inherit: inherit, set: values.to_h { |name, value| [name.to_s, value.to_s] }})
        @inherit = normal["inherit"]
        @values = normal["set"].each_value(&:freeze).freeze
        freeze
      end

      # Whether a program that asks for it inherits the variables of this process.
      def inherit? = @inherit

      # The variables, as #values.
      def to_h = values

      def declaration # :nodoc:
        {"inherit" => inherit?, "set" => values}
      end

      def ==(other)
        other.is_a?(EnvironmentPolicy) && declaration == other.declaration
      end
      alias_method :eql?, :==

      def hash
        declaration.hash
      end

      # Shows names only: values may be secrets.
      def inspect
        "#<#{self.class}#{" inherits" if inherit?} #{values.keys.join(" ")}>"
      end
    end
  end
end
