# frozen_string_literal: true

module LittleGhost
  module Support
    # Keeps long texts within a budget of tokens, at four bytes each. That is an estimate: count with
    # the provider's tokenizer where the exact number matters.
    #
    #   LittleGhost::Support::OutputTruncation.truncate_middle_with_token_budget(log, 10_000)
    module OutputTruncation
      # Bytes that count as one token.
      APPROX_BYTES_PER_TOKEN = 4

      extend self

      # The size in bytes of +tokens+ tokens, roughly.
      def approx_bytes_for_tokens(tokens)
        Native.approx_bytes_for_tokens(Integer(tokens))
      end

      # The tokens in +text+, roughly.
      def approx_token_count(text)
        approx_tokens_from_byte_count(Native::Text.utf8(text.to_s).bytesize)
      end

      # The tokens in +bytes+ bytes, roughly; a started token counts.
      def approx_tokens_from_byte_count(bytes)
        Native.approx_tokens_from_byte_count(Integer(bytes))
      end

      # <tt>[text, nil]</tt> for a text within the budget. A longer one loses its middle, at whole characters, to a
      # note of how many tokens are gone; then the second value is the rough number of tokens before.
      def truncate_middle_with_token_budget(text, max_tokens)
        Native.truncate_middle(Native::Text.utf8(text.to_s), Integer(max_tokens))
      end
    end
  end
end
