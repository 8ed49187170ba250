# frozen_string_literal: true

module LittleGhost
  module Content
    # Image bytes with their MIME type, such as +image/png+, and an optional name.
    class Image < Data.define(:data, :media_type, :name)
      def initialize(data:, media_type:, name: nil)
        raise ArgumentError, "image: data must be a String of bytes, got #{data.class}" unless data.is_a?(String)

        super
      end

      def serialize # :nodoc:
        hash = {"type" => "image", "data" => [data].pack("m0"), "encoding" => "base64", "media_type" => media_type}
        hash["name"] = name unless name.nil?
        hash
      end

      # Leaves the bytes out.
      def inspect
        "#<#{self.class} #{media_type} #{name.inspect} #{data.bytesize} bytes>"
      end
      alias_method :to_s, :inspect
    end
  end
end
