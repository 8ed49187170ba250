# frozen_string_literal: true

module LittleGhost
  module Models
    # Facts about one model, deeply frozen: limits, modalities, features, prices. What is not known is nil.
    class Details
      LISTS = %i[input_modalities output_modalities supported_parameters].freeze
      private_constant :LISTS

      class << self
        # Details without a fact.
        def unknown(target)
          new(target: target)
        end
      end

      # The model, as <tt>connection:model-id</tt>.
      attr_reader :target
      # Every fact under its Symbol.
      attr_reader :attributes
      # Attribute => the name of its source.
      attr_reader :provenance
      # When the facts were observed, such as <tt>"2026-11-30"</tt>.
      attr_reader :observed_at

      # Raises ConfigurationError for modalities and parameters that are no Arrays.
      def initialize(target:, provenance: {}, observed_at: nil, **attributes)
        @target = target.to_s.dup.freeze
        @provenance = seal(provenance || {})
        @observed_at = seal(observed_at)
        @attributes = seal(attributes.compact)
        LISTS.each do |name|
          next if self[name].nil? || self[name].is_a?(Array)

          raise ConfigurationError, "#{name} of #{@target} must be an Array, got #{self[name].class}"
        end
        freeze
      end

      # The fact called +name+, or nil.
      def [](name)
        @attributes[name.to_sym]
      end

      # Whether anything is known.
      def known? = !@attributes.empty?

      # The most tokens of a prompt.
      def context_window = self[:context_window] || self[:context_window_tokens]

      # The most tokens of an answer.
      def max_output_tokens = self[:max_output_tokens]

      # Forms of input: +text+, +image+, +pdf+, +file+, +audio+, +video+.
      def input_modalities = self[:input_modalities]

      # Forms of output.
      def output_modalities = self[:output_modalities]

      # Request parameters and features, such as +tools+.
      def supported_parameters = self[:supported_parameters]

      # Prices in USD for a million tokens: +input+, +output+, +cache_read+, +cache_write+ and more; {} when
      # unknown.
      def pricing = self[:pricing] || {}.freeze

      # Every fact, and +target+, +provenance+ and +observed_at+.
      def to_h
        {**attributes, target: target, provenance: provenance, observed_at: observed_at}
      end

      # Names the model and what is known.
      def inspect
        "#<#{self.class} #{target} #{attributes.keys.join(", ")}>"
      end

      def to_engine # :nodoc:
        {**attributes, provenance: provenance, observed_at: observed_at&.to_s}
      end

      private

      def seal(value)
        case value
        when Hash then value.to_h { |key, nested| [key.to_sym, seal(nested)] }.freeze
        when Array then value.map { |nested| seal(nested) }.freeze
        when String then value.frozen? ? value : value.dup.freeze
        else value
        end
      end
    end
  end
end
