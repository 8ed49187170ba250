//! When and how much to summarise.

use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind, Result};
use crate::message::kind_of;

/// Keeps a conversation within the model's context window: when it gets long, its older messages
/// are replaced by a summary that the same model writes.
///
/// Instructions stay, and so do the latest messages. A tool call and its result are never
/// separated. The tokens of the summary count.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "it does nothing until an agent has it"]
pub struct ContextManagement {
    context_window_tokens: u64,
    compression_threshold: f64,
    summary_ratio: f64,
    preserve_recent_messages: usize,
}

impl Default for ContextManagement {
    fn default() -> Self {
        Self {
            context_window_tokens: 200_000,
            compression_threshold: 0.85,
            summary_ratio: 0.3,
            preserve_recent_messages: 10,
        }
    }
}

impl ContextManagement {
    /// Size of the window when nothing is known about the model. Default 200,000 tokens.
    pub fn context_window_tokens(mut self, tokens: u64) -> Self {
        self.context_window_tokens = tokens;
        self
    }

    /// Share of the window, up to 1, from which older messages are summarised. Default 0.85.
    pub fn compression_threshold(mut self, share: f64) -> Self {
        self.compression_threshold = share;
        self
    }

    /// Share of the conversation that is summarised, 0.1 to 0.8. Default 0.3.
    pub fn summary_ratio(mut self, share: f64) -> Self {
        self.summary_ratio = share;
        self
    }

    /// Latest messages that stay as they are, at least 2. Default 10.
    pub fn preserve_recent_messages(mut self, count: usize) -> Self {
        self.preserve_recent_messages = count;
        self
    }

    /// Reads `{context_window_tokens?, compression_threshold?, summary_ratio?,
    /// preserve_recent_messages?}`.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for an unknown key or a number out of range.
    pub fn from_value(value: &Value) -> Result<Self> {
        let Value::Object(map) = value else {
            return Err(invalid(format!(
                "must be an object, not {}",
                kind_of(value)
            )));
        };
        let mut options = Self::default();
        for (key, value) in map {
            match key.as_str() {
                "context_window_tokens" => options.context_window_tokens = count(key, value)?,
                "compression_threshold" => options.compression_threshold = share(key, value)?,
                "summary_ratio" => options.summary_ratio = share(key, value)?,
                "preserve_recent_messages" => {
                    let count = count(key, value)?;
                    options.preserve_recent_messages = usize::try_from(count).unwrap_or(usize::MAX);
                }
                other => {
                    return Err(invalid(format!(
                        "unknown option {other:?}; use context_window_tokens, \
                         compression_threshold, summary_ratio or preserve_recent_messages"
                    )));
                }
            }
        }
        options.check()
    }

    /// The options, when they make sense.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a number out of range.
    pub fn check(self) -> Result<Self> {
        let problem = if self.context_window_tokens == 0 {
            "context_window_tokens must be at least 1"
        } else if !(self.compression_threshold > 0.0 && self.compression_threshold <= 1.0) {
            "compression_threshold must be above 0 and at most 1"
        } else if !(0.1..=0.8).contains(&self.summary_ratio) {
            "summary_ratio must be between 0.1 and 0.8"
        } else if self.preserve_recent_messages < 2 {
            "preserve_recent_messages must be at least 2"
        } else {
            return Ok(self);
        };
        Err(invalid(problem))
    }

    /// The window of a model with these details.
    pub(super) fn window(&self, details: &Map<String, Value>) -> u64 {
        ["context_window", "context_window_tokens"]
            .iter()
            .filter_map(|name| details.get(*name).and_then(Value::as_u64))
            .find(|tokens| *tokens > 0)
            .unwrap_or(self.context_window_tokens)
    }

    /// Whether a request of `tokens` is to be shortened.
    #[expect(
        clippy::cast_precision_loss,
        reason = "windows are far below 2^53 tokens"
    )]
    pub(super) fn is_full(&self, tokens: u64, details: &Map<String, Value>) -> bool {
        tokens as f64 >= self.window(details) as f64 * self.compression_threshold
    }

    /// How many of `messages`, the oldest, are summarised at first; 0 when all must stay.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a number of messages"
    )]
    pub(super) fn share_of(&self, messages: usize) -> usize {
        let share = (messages as f64 * self.summary_ratio).floor() as usize;
        share
            .max(1)
            .min(messages.saturating_sub(self.preserve_recent_messages))
    }
}

fn count(key: &str, value: &Value) -> Result<u64> {
    value
        .as_u64()
        .ok_or_else(|| invalid(format!("{key} must be a whole number, not {value}")))
}

fn share(key: &str, value: &Value) -> Result<f64> {
    value
        .as_f64()
        .ok_or_else(|| invalid(format!("{key} must be a number, not {value}")))
}

fn invalid(problem: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorKind::Argument,
        format!("context management: {problem}"),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn options_are_checked() {
        for bad in [
            json!({"context_window_tokens": 0}),
            json!({"compression_threshold": 0}),
            json!({"compression_threshold": 1.01}),
            json!({"summary_ratio": 0.09}),
            json!({"summary_ratio": 0.81}),
            json!({"preserve_recent_messages": 1}),
            json!({"preserve_recent_messages": "2"}),
            json!({"window": 1}),
            json!([]),
        ] {
            let error = ContextManagement::from_value(&bad).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Argument, "{bad}");
        }
        let options = json!({"context_window_tokens": 8, "compression_threshold": 1,
            "summary_ratio": 0.8, "preserve_recent_messages": 2});
        assert!(ContextManagement::from_value(&options).is_ok());
    }

    #[test]
    fn what_the_model_says_of_its_window_goes_first() {
        let options = ContextManagement::default().context_window_tokens(100);
        let details = |value: Value| value.as_object().cloned().unwrap();
        assert_eq!(options.window(&details(json!({}))), 100);
        assert_eq!(options.window(&details(json!({"context_window": 0}))), 100);
        assert_eq!(
            options.window(&details(json!({"context_window_tokens": 50}))),
            50
        );
        assert!(options.is_full(85, &Map::new()) && !options.is_full(84, &Map::new()));
    }

    #[test]
    fn the_share_leaves_recent_messages() {
        let options = ContextManagement::default();
        let shares: Vec<usize> = [5, 10, 11, 12, 20, 100]
            .iter()
            .map(|messages| options.share_of(*messages))
            .collect();
        assert_eq!(shares, [0, 0, 1, 2, 6, 30]);
    }
}
