//! What a finished answer says about itself.

use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::message::Usage;
use crate::model::StopReason;

/// Reads a `usage` object.
///
/// The service counts what the cache read and wrote apart from the input. Where the counts say that
/// the input includes them, they are taken out of it.
pub(super) fn usage(value: &Value) -> Usage {
    let count = |name: &str| value.get(name).and_then(Value::as_u64);
    let input = count("inputTokens").unwrap_or(0);
    let output = count("outputTokens").unwrap_or(0);
    let cache_read = count("cacheReadInputTokens").unwrap_or(0);
    let cache_write = count("cacheWriteInputTokens").unwrap_or(0);
    let cached = cache_read.saturating_add(cache_write);
    let apart = cached > input
        || count("totalTokens")
            .is_some_and(|total| total >= input.saturating_add(output).saturating_add(cached));
    Usage {
        input_tokens: if apart { input } else { input - cached },
        output_tokens: output,
        cache_read_tokens: cache_read,
        cache_write_tokens: cache_write,
        reasoning_tokens: 0,
    }
}

/// Why the model stopped, in the service's word.
///
/// # Errors
/// [`ErrorKind::MalformedToolCall`] and [`ErrorKind::Protocol`] when the service says that the model
/// wrote something that it cannot pass on.
pub(super) fn stop_reason(word: &str, has_calls: bool) -> Result<StopReason> {
    Ok(match word {
        "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
        "guardrail_intervened" | "content_filtered" => StopReason::ContentFilter,
        "malformed_tool_use" => {
            return Err(Error::new(
                ErrorKind::MalformedToolCall,
                "the service reports that the model's tool call was malformed",
            ));
        }
        "malformed_model_output" => {
            return Err(Error::new(
                ErrorKind::Protocol,
                "the service reports that the model's output was malformed",
            ));
        }
        _ if has_calls => StopReason::ToolUse,
        _ => StopReason::EndTurn,
    })
}
