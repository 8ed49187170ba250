# frozen_string_literal: true

module LittleGhost
  module Native
    # Text that the engine can take.
    module Text # :nodoc:
      # +text+ as UTF-8. Bytes without an encoding count as UTF-8; what is no text is replaced.
      def self.utf8(text)
        text = text.dup.force_encoding(Encoding::UTF_8) if text.encoding == Encoding::BINARY
        text = text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace) if text.encoding != Encoding::UTF_8
        text.valid_encoding? ? text : text.scrub
      end
    end
  end
end
