//! What a finished answer says about itself.

use serde_json::Value;

use crate::message::Usage;
use crate::model::StopReason;
use crate::protocol::token_count;

/// Token counts in the making: each report replaces those of its counts that it has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    thinking: u64,
    reported: bool,
}

impl Counts {
    /// Takes a `usage` object.
    pub(super) fn read(&mut self, usage: &Value) {
        self.reported |= usage.is_object();
        let count = |path: &str, current: u64| token_count::count(usage, path).unwrap_or(current);
        self.input = count("/input_tokens", self.input);
        self.output = count("/output_tokens", self.output);
        self.cache_read = count("/cache_read_input_tokens", self.cache_read);
        self.cache_write = count("/cache_creation_input_tokens", self.cache_write);
        self.thinking = count("/output_tokens_details/thinking_tokens", self.thinking);
    }

    /// Whether there was any report.
    pub(super) fn is_reported(&self) -> bool {
        self.reported
    }

    /// Every token once: the input excludes the cache's as it comes, the output includes thinking.
    pub(super) fn usage(&self) -> Usage {
        Usage {
            input_tokens: self.input,
            output_tokens: self.output.saturating_sub(self.thinking),
            cache_read_tokens: self.cache_read,
            cache_write_tokens: self.cache_write,
            reasoning_tokens: self.thinking.min(self.output),
        }
    }
}

/// Why the model stopped, from `stop_reason` and what the answer contains.
pub(super) fn stop_reason(reason: &str, has_calls: bool) -> StopReason {
    match reason {
        "tool_use" => StopReason::ToolUse,
        // Both cut the answer.
        "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
        "refusal" => StopReason::ContentFilter,
        // A stop sequence, a pause of the service's own tools, or the end.
        _ if has_calls => StopReason::ToolUse,
        _ => StopReason::EndTurn,
    }
}
