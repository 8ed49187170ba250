//! Plain data of a conversation: messages, content blocks and token counts.

mod content;
mod origin;
mod repair;
mod usage;

use std::sync::Arc;

use serde_json::{Map, Value, json};

pub use content::{
    Attachment, Content, Reasoning, ToolResult, ToolResultContent, ToolStatus, ToolUse,
};
pub(crate) use content::{kind_of, visible_text};
pub(crate) use origin::{readable_by, sign, unsign};
pub(crate) use repair::make_whole;
pub use usage::Usage;

use crate::error::{Error, ErrorKind, Result};

/// Who speaks in a [`Message`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Instructions of the application.
    System,
    /// Instructions of the application, in newer OpenAI wording.
    Developer,
    /// The caller.
    User,
    /// The model.
    Assistant,
    /// Results of tool calls.
    Tool,
}

impl Role {
    /// Every role, in the order of [`Message::from_value`]'s error text.
    pub const ALL: &'static [Role] = &[
        Role::System,
        Role::Developer,
        Role::User,
        Role::Assistant,
        Role::Tool,
    ];

    /// The serialised name, such as `"user"`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::Developer => "developer",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        }
    }

    fn parse(name: &str) -> Result<Self> {
        Role::ALL
            .iter()
            .copied()
            .find(|role| role.as_str() == name)
            .ok_or_else(|| {
                let known: Vec<&str> = Role::ALL.iter().map(|role| role.as_str()).collect();
                Error::new(
                    ErrorKind::Argument,
                    format!(
                        "message: unknown role {name:?}; use one of {}",
                        known.join(", ")
                    ),
                )
            })
    }
}

/// One participant's contribution to a conversation.
#[derive(Clone, Debug)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, block by block. Shared by the message's clones, so that a long conversation
    /// is copied in no time; change it with [`Arc::make_mut`].
    pub content: Arc<Vec<Content>>,
    /// Application data that travels with the message and is never sent to a model.
    pub metadata: Map<String, Value>,
}

impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        self.role == other.role
            && (Arc::ptr_eq(&self.content, &other.content) || self.content == other.content)
            && self.metadata == other.metadata
    }
}

impl Message {
    /// A message of `role` with the given blocks.
    #[must_use]
    pub fn new(role: Role, content: Vec<Content>) -> Self {
        Self {
            role,
            content: Arc::new(content),
            metadata: Map::new(),
        }
    }

    /// A user message with one text block.
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, vec![Content::text(text)])
    }

    /// A system message with one text block.
    pub fn system(text: impl Into<String>) -> Self {
        Self::new(Role::System, vec![Content::text(text)])
    }

    /// An assistant message with one text block.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::new(Role::Assistant, vec![Content::text(text)])
    }

    /// All visible text, without reasoning and tool traffic.
    #[must_use]
    pub fn text(&self) -> String {
        visible_text(&self.content)
    }

    /// The tool calls of this message, in order.
    pub fn tool_uses(&self) -> impl Iterator<Item = &ToolUse> {
        self.content.iter().filter_map(|block| match block {
            Content::ToolUse(tool_use) => Some(tool_use),
            _ => None,
        })
    }

    /// Whether the message says nothing: no blocks, or only blank text.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.content.iter().all(|block| match block {
            Content::Text(text) => text.trim().is_empty(),
            _ => false,
        })
    }

    /// `{role, content, metadata}` with serialised blocks.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({
            "role": self.role.as_str(),
            "content": self.content.iter().map(Content::to_value).collect::<Vec<_>>(),
            "metadata": self.metadata,
        })
    }

    /// Reads a serialised message; `content` may be a string, one block, or an array of them.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for an unknown role, a wrong shape or an invalid block.
    pub fn from_value(value: &Value) -> Result<Self> {
        let Value::Object(map) = value else {
            return Err(Error::new(
                ErrorKind::Argument,
                format!("message: expected an object, got {}", kind_of(value)),
            ));
        };
        if let Some(key) = map
            .keys()
            .find(|key| !["role", "content", "metadata"].contains(&key.as_str()))
        {
            return Err(Error::new(
                ErrorKind::Argument,
                format!(
                    "message: unknown key {key:?}; a message has role, content and metadata, and \
                     tool calls and results are content blocks of type tool_use and tool_result"
                ),
            ));
        }
        let role = Role::parse(map.get("role").and_then(Value::as_str).unwrap_or_default())?;
        let content = match map.get("content") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(blocks)) => blocks
                .iter()
                .map(Content::from_value)
                .collect::<Result<_>>()?,
            Some(single) => vec![Content::from_value(single)?],
        };
        let metadata = match map.get("metadata") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(metadata)) => metadata.clone(),
            Some(other) => {
                return Err(Error::new(
                    ErrorKind::Argument,
                    format!(
                        "message: metadata must be an object, got {}",
                        kind_of(other)
                    ),
                ));
            }
        };
        Ok(Self {
            role,
            content: Arc::new(content),
            metadata,
        })
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        Message::user(text)
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        Message::user(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_another_format_is_refused() {
        let message = json!({"role": "assistant", "content": null, "tool_calls": []});
        let error = Message::from_value(&message).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert!(
            error.message().contains("unknown key \"tool_calls\""),
            "{error}"
        );
    }
}
