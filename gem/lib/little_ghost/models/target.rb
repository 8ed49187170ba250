# frozen_string_literal: true

module LittleGhost
  module Models
    # One model at one connection. The model's identifier may contain colons.
    Target = Data.define(:provider, :model) do
      # Reads <tt>connection:model-id</tt>; a Target is returned as it is. Raises ConfigurationError when a part
      # is missing.
      def self.parse(value)
        return value if value.is_a?(self)

        provider, model = value.to_s.split(":", 2).map(&:strip)
        return new(provider: provider, model: model) unless provider.to_s.empty? || model.to_s.empty?

        raise ConfigurationError, "model target #{value.inspect} is incomplete: write it as \"connection:model-id\", " \
          "such as \"openrouter:openai/gpt-5.6-luna\""
      end

      # <tt>connection:model-id</tt>.
      def to_s
        "#{provider}:#{model}"
      end
    end
  end
end
