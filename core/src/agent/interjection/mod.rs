//! Messages that reach an agent while it works.

mod entry;
mod queue;
mod ticket;

use serde_json::{Map, Value, json};
use uuid::Uuid;

pub(crate) use queue::{Batch, Interjections};
pub(crate) use ticket::Ticket;

use crate::deadline::Deadline;
use crate::error::{Error, ErrorKind, Result};
use crate::message::{Content, Message, Role, kind_of};

/// What the model is told about an interjection, before the message itself.
const PREAMBLE: &str = "The user sent this message while you were working. First answer it \
    briefly in text, before any tool call. Then go on with your work, unless the message asks you \
    to finish.";

/// A message for an agent that is at work. A plain message converts into one.
///
/// The agent reads it before its next model call and answers it there.
#[derive(Clone, Debug)]
pub struct Interjection {
    pub(crate) message: Message,
    pub(crate) id: Option<String>,
    pub(crate) batch_key: Option<String>,
    pub(crate) metadata: Map<String, Value>,
    pub(crate) target_operation_id: Option<String>,
    pub(crate) deadline: Option<Deadline>,
}

impl Interjection {
    /// An interjection that says `message`.
    #[must_use]
    pub fn new(message: impl Into<Message>) -> Self {
        Self {
            message: message.into(),
            id: None,
            batch_key: None,
            metadata: Map::new(),
            target_operation_id: None,
            deadline: None,
        }
    }

    /// Identifies the interjection: the same one again shares delivery and answer of the first.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Delivers neighbours of the same key together, at most 100.
    #[must_use]
    pub fn with_batch_key(mut self, key: impl Into<String>) -> Self {
        self.batch_key = Some(key.into());
        self
    }

    /// Application data that travels in the delivered message's metadata.
    #[must_use]
    pub fn with_metadata(mut self, metadata: Map<String, Value>) -> Self {
        self.metadata = metadata;
        self
    }

    /// Chooses among several agents at work, by the operation that each is a part of.
    #[must_use]
    pub fn with_target(mut self, operation_id: impl Into<String>) -> Self {
        self.target_operation_id = Some(operation_id.into());
        self
    }

    /// When to stop waiting for the answer.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Deadline) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Reads `{message, interjection_id?, batch_key?, metadata?, target_operation_id?, deadline_at?}`.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for an unusable value.
    pub fn from_value(value: &Value) -> Result<Self> {
        let Value::Object(map) = value else {
            return Err(unusable(format!(
                "expected an object, got {}",
                kind_of(value)
            )));
        };
        let text = |key: &str| match map.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(unusable(format!(
                "{key} must be a string, got {}",
                kind_of(other)
            ))),
        };
        let message = match map.get("message") {
            None | Some(Value::Null) => return Err(blank()),
            Some(Value::String(text)) => Message::user(text.clone()),
            Some(Value::Array(blocks)) => Message::new(
                Role::User,
                blocks
                    .iter()
                    .map(Content::from_value)
                    .collect::<Result<_>>()?,
            ),
            Some(message @ Value::Object(map)) if map.contains_key("role") => {
                Message::from_value(message)?
            }
            Some(block) => Message::new(Role::User, vec![Content::from_value(block)?]),
        };
        let metadata = match map.get("metadata") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(metadata)) => metadata.clone(),
            Some(other) => {
                return Err(unusable(format!(
                    "metadata must be an object, got {}",
                    kind_of(other)
                )));
            }
        };
        let deadline = match map.get("deadline_at") {
            None | Some(Value::Null) => None,
            Some(at) => Some(at.as_f64().and_then(Deadline::from_unix).ok_or_else(|| {
                unusable(format!(
                    "deadline_at must be seconds since the Unix epoch, got {at}"
                ))
            })?),
        };
        Ok(Self {
            message,
            id: text("interjection_id")?,
            batch_key: text("batch_key")?,
            metadata,
            target_operation_id: text("target_operation_id")?,
            deadline,
        })
    }

    /// Fails for what a model cannot be told as an interjection; gives the others an identifier.
    pub(crate) fn checked(mut self) -> Result<Self> {
        if self.message.is_blank() {
            return Err(blank());
        }
        if self.message.role != Role::User {
            return Err(unusable(format!(
                "the message must be a user's, not of role {}",
                self.message.role.as_str()
            )));
        }
        let usable = |block: &Content| {
            matches!(
                block,
                Content::Text(_) | Content::Image(_) | Content::Document(_)
            )
        };
        if !self.message.content.iter().all(usable) {
            return Err(unusable(
                "the message may hold only text, images and documents".into(),
            ));
        }
        match &self.id {
            None => self.id = Some(Uuid::new_v4().to_string()),
            Some(id) if id.trim().is_empty() => {
                return Err(unusable(
                    "interjection_id is empty; leave it out or give it a value".into(),
                ));
            }
            Some(_) => {}
        }
        Ok(self)
    }

    /// The user message that the model reads.
    fn delivered(&self) -> Message {
        let mut content = vec![Content::text(PREAMBLE)];
        content.extend(self.message.content.iter().cloned());
        let mut message = Message::new(Role::User, content);
        message.metadata = self.message.metadata.clone();
        message
            .metadata
            .extend(self.metadata.iter().map(|(k, v)| (k.clone(), v.clone())));
        let mut mark = |name: &str, value: Value| {
            message
                .metadata
                .insert(format!("little_ghost_interjection_{name}"), value)
        };
        mark("id", json!(self.id));
        if let Some(key) = &self.batch_key {
            mark("batch_key", json!(key));
        }
        mark("metadata", Value::Object(self.metadata.clone()));
        message
    }
}

impl<T: Into<Message>> From<T> for Interjection {
    fn from(message: T) -> Self {
        Self::new(message)
    }
}

/// What the model answered to an interjection, at once; its work may go on.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterjectionResponse {
    /// Text of the response that answers it.
    pub text: String,
    /// Whether the response also asks for tools.
    pub tool_calls: bool,
    /// The interjections that it answers.
    pub interjection_ids: Vec<String>,
    /// Their common batch key.
    pub batch_key: Option<String>,
}

impl InterjectionResponse {
    /// `{text, tool_calls, interjection_ids, batch_key}`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({
            "text": self.text, "tool_calls": self.tool_calls,
            "interjection_ids": self.interjection_ids, "batch_key": self.batch_key,
        })
    }
}

fn unusable(problem: String) -> Error {
    Error::new(ErrorKind::Argument, format!("interjection: {problem}"))
}

fn blank() -> Error {
    unusable("the message is blank; pass the text, image or document to say".into())
}
