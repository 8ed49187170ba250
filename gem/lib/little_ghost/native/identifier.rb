# frozen_string_literal: true

module LittleGhost
  module Native
    # Identifiers that nobody can guess.
    module Identifier # :nodoc:
      # A random UUID, without loading SecureRandom for it.
      def self.generate
        bytes = Random.urandom(16)
        bytes.setbyte(6, (bytes.getbyte(6) & 0x0f) | 0x40)
        bytes.setbyte(8, (bytes.getbyte(8) & 0x3f) | 0x80)
        bytes.unpack("H8H4H4H4H12").join("-")
      end
    end
  end
end
