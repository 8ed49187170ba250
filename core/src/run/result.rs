//! The final value of one agent invocation.

use serde_json::{Value, json};

use crate::message::{Message, Usage};
use crate::model::StopReason;

/// The final value of one invocation.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    /// The final assistant message.
    pub message: Option<Message>,
    /// Why the last model response stopped.
    pub stop_reason: StopReason,
    /// Token counts over the whole invocation.
    pub usage: Usage,
    /// The complete conversation, system message first.
    pub messages: Vec<Message>,
}

impl RunResult {
    /// Text of the final message, or empty.
    #[must_use]
    pub fn text(&self) -> String {
        self.message.as_ref().map(Message::text).unwrap_or_default()
    }

    /// `{message, stop_reason, usage, messages}`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({
            "message": self.message.as_ref().map(Message::to_value),
            "stop_reason": self.stop_reason.as_str(),
            "usage": self.usage.to_value(),
            "messages": self.messages.iter().map(Message::to_value).collect::<Vec<_>>(),
        })
    }
}
