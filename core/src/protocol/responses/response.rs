//! What a finished answer says about itself.

use serde_json::Value;

use crate::message::Usage;
use crate::model::StopReason;
use crate::protocol::token_count::first_count;

/// Reads the token counts of a `usage` object, whose totals include the parts.
pub(super) fn usage(value: &Value) -> Usage {
    let count = |paths: &[&str]| first_count(value, paths);
    let cache_read = count(&["/input_tokens_details/cached_tokens"]);
    let cache_write = count(&[
        "/input_tokens_details/cache_write_tokens",
        "/output_tokens_details/cache_write_tokens",
    ]);
    let reasoning = count(&[
        "/output_tokens_details/reasoning_tokens",
        "/reasoning_tokens",
    ]);
    Usage {
        input_tokens: count(&["/input_tokens"])
            .saturating_sub(cache_read.saturating_add(cache_write)),
        output_tokens: count(&["/output_tokens"]).saturating_sub(reasoning),
        cache_read_tokens: cache_read,
        cache_write_tokens: cache_write,
        reasoning_tokens: reasoning,
    }
}

/// Why the model stopped, from a finished response object.
pub(super) fn stop_reason(response: &Value, refused: bool, has_calls: bool) -> StopReason {
    if response.get("status").and_then(Value::as_str) == Some("incomplete") {
        let detail = response.pointer("/incomplete_details/reason");
        return match detail.and_then(Value::as_str) {
            Some("content_filter") => StopReason::ContentFilter,
            _ => StopReason::MaxTokens,
        };
    }
    if has_calls {
        StopReason::ToolUse
    } else if refused {
        StopReason::ContentFilter
    } else {
        StopReason::EndTurn
    }
}
