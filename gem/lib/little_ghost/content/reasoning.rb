# frozen_string_literal: true

module LittleGhost
  module Content
    # Reasoning of the model, kept as the provider sent it: visible +text+ with an optional
    # +signature+, or opaque bytes in +redacted_content+, and provider-specific +details+.
    # Redacted bytes exclude text and signature.
    class Reasoning < Data.define(:text, :signature, :redacted_content, :details)
      def initialize(text: "", signature: nil, redacted_content: nil, details: nil)
        if redacted_content && (!text.to_s.empty? || signature)
          raise ArgumentError, "reasoning: redacted content excludes text and signature"
        end
        unless details.nil? || (details.is_a?(Array) && details.all?(Hash))
          raise ArgumentError, "reasoning: details must be an Array of Hashes"
        end

        super(text: text.to_s, signature: signature, redacted_content: redacted_content, details: details)
      end

      def self.load(hash) # :nodoc:
        new(
          text: hash["text"] || "", signature: hash["signature"],
          redacted_content: Content.bytes(hash), details: hash["details"]
        )
      end

      def serialize # :nodoc:
        hash = {"type" => "reasoning", "text" => text}
        hash["signature"] = signature if signature
        hash.update("data" => [redacted_content].pack("m0"), "encoding" => "base64") if redacted_content
        hash["details"] = details if details
        hash
      end
    end
  end
end
