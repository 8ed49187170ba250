//! Keeps tool output within a token budget by cutting its middle.

use std::borrow::Cow;

/// Bytes counted as one token. An estimate: providers tokenise differently.
pub const APPROX_BYTES_PER_TOKEN: usize = 4;

/// The size in bytes of `tokens` tokens, roughly.
#[must_use]
pub const fn approx_bytes_for_tokens(tokens: usize) -> usize {
    tokens.saturating_mul(APPROX_BYTES_PER_TOKEN)
}

/// The tokens in `bytes` bytes, roughly; a started token counts.
#[must_use]
pub const fn approx_tokens_from_byte_count(bytes: usize) -> usize {
    bytes.div_ceil(APPROX_BYTES_PER_TOKEN)
}

/// The tokens in `text`, roughly.
#[must_use]
pub const fn approx_token_count(text: &str) -> usize {
    approx_tokens_from_byte_count(text.len())
}

/// Cuts the middle out of `text` when it is longer than `max_tokens` × 4 bytes.
///
/// Keeps the first and the last half of the budget, whole characters only, with a note in between
/// that says how many tokens are gone. Returns the text, and the estimated size in tokens of the original
/// when it was cut.
#[must_use]
pub fn truncate_middle_with_token_budget(
    text: &str,
    max_tokens: usize,
) -> (Cow<'_, str>, Option<usize>) {
    let budget = approx_bytes_for_tokens(max_tokens);
    if text.len() <= budget {
        return (Cow::Borrowed(text), None);
    }
    let removed = approx_tokens_from_byte_count(text.len() - budget);
    let mut head_end = budget / 2;
    while !text.is_char_boundary(head_end) {
        head_end -= 1;
    }
    let mut tail_start = text.len() - (budget - budget / 2);
    while !text.is_char_boundary(tail_start) {
        tail_start += 1;
    }
    let head = text.get(..head_end).unwrap_or_default();
    let tail = text.get(tail_start..).unwrap_or_default();
    let cut = format!("{head}…{removed} tokens truncated…{tail}");
    (Cow::Owned(cut), Some(approx_token_count(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_roughly() {
        assert_eq!(approx_bytes_for_tokens(3), 12);
        assert_eq!(approx_tokens_from_byte_count(9), 3);
        assert_eq!((approx_token_count(""), approx_token_count("éé!")), (0, 2));
    }

    #[test]
    fn leaves_text_within_the_budget_alone() {
        assert_eq!(
            truncate_middle_with_token_budget("12345678", 2),
            (Cow::Borrowed("12345678"), None)
        );
    }

    #[test]
    fn cuts_the_middle_and_counts_what_is_gone() {
        let (text, original) = truncate_middle_with_token_budget("abcdefghijklmnop", 2);
        assert_eq!(text, "abcd…2 tokens truncated…mnop");
        assert_eq!(original, Some(4));
    }

    #[test]
    fn never_splits_a_character() {
        let accents = "é".repeat(20);
        let (text, _) = truncate_middle_with_token_budget(&accents, 3);
        assert!(text.starts_with("ééé…") && text.ends_with("…ééé"), "{text}");
    }
}
