# frozen_string_literal: true

module LittleGhost
  module Content
    # Text that the model or the application reads.
    class Text < Data.define(:text)
      def serialize # :nodoc:
        {"type" => "text", "text" => text}
      end
    end
  end
end
