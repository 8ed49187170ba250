# frozen_string_literal: true

module LittleGhost
  module Content
    # Document bytes with their MIME type, such as +application/pdf+, and the name that the model sees.
    class Document < Data.define(:data, :media_type, :name)
      def initialize(data:, media_type:, name:)
        raise ArgumentError, "document: data must be a String of bytes, got #{data.class}" unless data.is_a?(String)

        super
      end

      def serialize # :nodoc:
        {
          "type" => "document", "data" => [data].pack("m0"), "encoding" => "base64",
          "media_type" => media_type, "name" => name
        }
      end

      # Leaves the bytes out.
      def inspect
        "#<#{self.class} #{media_type} #{name.inspect} #{data.bytesize} bytes>"
      end
      alias_method :to_s, :inspect
    end
  end
end
