//! What a finished answer says about itself.

use serde_json::Value;

use crate::message::Usage;
use crate::model::StopReason;
use crate::protocol::token_count::first_count;

/// Reads the token counts of a `usage` object.
///
/// `prompt_tokens` include cached ones and `completion_tokens` include reasoning; the parts are
/// taken out, so that every token is counted once.
pub(super) fn usage(value: &Value) -> Usage {
    let count = |paths: &[&str]| first_count(value, paths);
    let prompt = count(&["/prompt_tokens", "/input_tokens"]);
    let completion = count(&["/completion_tokens", "/output_tokens"]);
    let cache_read = count(&[
        "/prompt_tokens_details/cached_tokens",
        "/cache_read_input_tokens",
        "/prompt_cache_hit_tokens",
    ]);
    let cache_write = count(&[
        "/prompt_tokens_details/cache_write_tokens",
        "/cache_creation_input_tokens",
    ]);
    let reasoning = count(&[
        "/completion_tokens_details/reasoning_tokens",
        "/reasoning_tokens",
    ]);
    // One vendor counts reasoning beside the completion; its total gives that away.
    let beside = reasoning > 0
        && count(&["/total_tokens"]) == prompt.saturating_add(completion).saturating_add(reasoning);
    Usage {
        input_tokens: prompt.saturating_sub(cache_read.saturating_add(cache_write)),
        output_tokens: if beside {
            completion
        } else {
            completion.saturating_sub(reasoning)
        },
        cache_read_tokens: cache_read,
        cache_write_tokens: cache_write,
        reasoning_tokens: reasoning,
    }
}

/// Why the model stopped, from `finish_reason` and what the answer contains.
pub(super) fn stop_reason(finish_reason: &str, refused: bool, has_calls: bool) -> StopReason {
    match finish_reason {
        "tool_calls" | "function_call" => StopReason::ToolUse,
        "length" | "max_tokens" | "incomplete" => StopReason::MaxTokens,
        "content_filter" => StopReason::ContentFilter,
        _ if has_calls => StopReason::ToolUse,
        _ if refused => StopReason::ContentFilter,
        _ => StopReason::EndTurn,
    }
}
