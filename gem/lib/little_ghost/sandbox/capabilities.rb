# frozen_string_literal: true

module LittleGhost
  class Sandbox
    # What a sandbox can do. It is no certificate for the machine around it.
    class Capabilities
      # What a sandbox offers unless it says otherwise.
      DEFAULT_FEATURES = %i[
        filesystem_read filesystem_list filesystem_write filesystem_replace process_execute process_spawn
      ].freeze

      # Operations, a frozen Array of Symbols such as +:filesystem_read+ and +:process_tree_ownership+.
      attr_reader :features
      # What isolates, such as +:namespace+; +:none+ without isolation.
      attr_reader :isolation
      # Network modes that are enforced.
      attr_reader :network_modes

      # Names may be the short ones of operations, such as +:read+. Raises ArgumentError for unknown ones.
      def initialize(features: DEFAULT_FEATURES, network_modes: [:inherit], isolation: :none)
        @declaration = Native::Sandbox.normalize(
          "capabilities", {"features" => features.to_a, "network_modes" => network_modes.to_a, "isolation" => isolation}
        ).freeze
        @features, @network_modes = @declaration.values_at("features", "network_modes").map { |names| names.map(&:to_sym).freeze }
        @isolation = @declaration["isolation"].to_sym
        freeze
      end

      def self.build(hash) # :nodoc:
        new(features: hash["features"], network_modes: hash["network_modes"], isolation: hash["isolation"])
      end

      attr_reader :declaration # :nodoc:

      # Whether +feature+, by its name or short name, is offered; of +:network+, whether the mode +value+ is enforced.
      def supports?(feature, value = nil)
        return value.nil? ? !network_modes.empty? : network_modes.include?(value.to_sym) if feature.to_sym == :network

        features.include?(Native::Sandbox.feature(feature.to_s)&.to_sym)
      end

      # The same as #supports?.
      def include?(feature, value = nil)
        supports?(feature, value)
      end

      # What both offer; the isolation is this one's.
      def intersect(other)
        Capabilities.build(Native::Sandbox.intersect(declaration, other.declaration))
      end

      def ==(other)
        other.is_a?(Capabilities) && declaration == other.declaration
      end
      alias_method :eql?, :==

      def hash
        declaration.hash
      end
    end
  end
end
