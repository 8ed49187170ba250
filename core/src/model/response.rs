//! The final result of one model call.

use serde_json::{Map, Value, json};

use crate::error::{Error, ErrorKind, Result};
use crate::message::{Message, Role, Usage, kind_of};

/// Why a model stopped, in words shared by every provider.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The model was done.
    EndTurn,
    /// The model asks for tools.
    ToolUse,
    /// A token limit cut the response.
    MaxTokens,
    /// A filter or a refusal ended the response.
    ContentFilter,
    /// A validated structured result ended the invocation.
    StructuredResult,
    /// Any other reason, as the provider wrote it.
    Other(String),
}

impl StopReason {
    /// The serialised name, such as `"end_turn"`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            StopReason::EndTurn => "end_turn",
            StopReason::ToolUse => "tool_use",
            StopReason::MaxTokens => "max_tokens",
            StopReason::ContentFilter => "content_filter",
            StopReason::StructuredResult => "structured_result",
            StopReason::Other(reason) => reason,
        }
    }

    /// Reads a serialised name; unknown ones survive.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        match name {
            "end_turn" => StopReason::EndTurn,
            "tool_use" => StopReason::ToolUse,
            "max_tokens" => StopReason::MaxTokens,
            "content_filter" => StopReason::ContentFilter,
            "structured_result" => StopReason::StructuredResult,
            other => StopReason::Other(other.to_owned()),
        }
    }

    /// Whether a generation limit cut the response short.
    #[must_use]
    pub fn is_output_limit(&self) -> bool {
        matches!(
            self.as_str(),
            "max_tokens" | "limit_output_tokens" | "limit_total_tokens" | "limit_turns"
        )
    }
}

/// The final result of one model call.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelResponse {
    /// The assistant message.
    pub message: Message,
    /// Why the model stopped.
    pub stop_reason: StopReason,
    /// Token counts of this response.
    pub usage: Usage,
    /// Facts such as the provider's response `id` and `model`.
    pub metadata: Map<String, Value>,
}

impl ModelResponse {
    /// `{message, stop_reason, usage, metadata}`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({
            "message": self.message.to_value(),
            "stop_reason": self.stop_reason.as_str(),
            "usage": self.usage.to_value(),
            "metadata": self.metadata,
        })
    }
    /// Reads `{message, stop_reason, usage, metadata}`; the message must be an assistant's.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for any other shape.
    pub fn from_value(value: &Value) -> Result<Self> {
        let invalid =
            |problem: String| Error::new(ErrorKind::Argument, format!("model response: {problem}"));
        let Value::Object(map) = value else {
            return Err(invalid(format!(
                "expected an object, got {}",
                kind_of(value)
            )));
        };
        let message = match map.get("message") {
            Some(message) if !message.is_null() => Message::from_value(message)?,
            _ => return Err(invalid("message is missing".into())),
        };
        if message.role != Role::Assistant {
            return Err(invalid(format!(
                "the message must be of role assistant, not {}",
                message.role.as_str()
            )));
        }
        let stop_reason = match map.get("stop_reason") {
            Some(Value::String(reason)) if !reason.is_empty() => StopReason::from_name(reason),
            _ => return Err(invalid("stop_reason must be a name".into())),
        };
        let object = |key: &str| match map.get(key) {
            None | Some(Value::Null) => Ok(Map::new()),
            Some(Value::Object(object)) => Ok(object.clone()),
            Some(other) => Err(invalid(format!(
                "{key} must be an object, got {}",
                kind_of(other)
            ))),
        };
        Ok(Self {
            message,
            stop_reason,
            usage: Usage::from_map(&object("usage")?),
            metadata: object("metadata")?,
        })
    }
}
