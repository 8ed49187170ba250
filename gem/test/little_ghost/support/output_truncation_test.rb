# frozen_string_literal: true

require_relative "../../test_helper"

class OutputTruncationTest < Minitest::Test
  include LittleGhost::Support::OutputTruncation

  def test_counts_roughly
    assert_equal 4, APPROX_BYTES_PER_TOKEN
    assert_equal 12, approx_bytes_for_tokens(3)
    assert_equal 3, approx_tokens_from_byte_count(9)
    assert_equal 2, LittleGhost::Support::OutputTruncation.approx_token_count("éé!")
  end

  def test_cuts_the_middle_of_what_is_too_long
    assert_equal ["12345678", nil], truncate_middle_with_token_budget("12345678", 2)
    text, tokens = truncate_middle_with_token_budget("abcdefghijklmnop", 2)
    assert_equal 4, tokens
    assert_match(/\Aabcd….*2 tokens.*…mnop\z/, text)
    refute_includes text, "\n"
  end

  def test_takes_any_bytes
    assert_equal ["a\u{fffd}", nil], truncate_middle_with_token_budget("a\xFF", 2)
    text, = truncate_middle_with_token_budget("é".b * 20, 3)
    assert text.valid_encoding?
    assert text.start_with?("ééé…") && text.end_with?("…ééé"), text
  end
end
