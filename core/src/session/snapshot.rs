//! What a store keeps of a conversation.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::error::{Error, ErrorKind, Result};
use crate::message::{Content, Message, Role, kind_of, unsign};

/// What a store keeps of one conversation: messages, application state and metadata.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// The conversation, oldest message first.
    pub messages: Vec<Message>,
    /// Working state of the application.
    pub state: Map<String, Value>,
    /// Facts about the conversation itself.
    pub metadata: Map<String, Value>,
}

impl Snapshot {
    /// `{messages, state, metadata}` with serialised messages.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({
            "messages": self.messages.iter().map(Message::to_value).collect::<Vec<_>>(),
            "state": self.state,
            "metadata": self.metadata,
        })
    }

    /// Reads what [`Snapshot::to_value`] wrote. Parts that are absent are empty.
    ///
    /// # Errors
    /// [`ErrorKind::Protocol`] for anything else.
    pub fn from_value(value: &Value) -> Result<Self> {
        let Value::Object(map) = value else {
            return Err(unusable(&format!(
                "expected an object, got {}",
                kind_of(value)
            )));
        };
        let messages = match map.get("messages") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(messages)) => messages
                .iter()
                .map(|message| {
                    Message::from_value(message).map_err(|problem| unusable(problem.message()))
                })
                .collect::<Result<_>>()?,
            Some(other) => {
                return Err(unusable(&format!(
                    "messages must be an array, got {}",
                    kind_of(other)
                )));
            }
        };
        Ok(Self {
            messages,
            state: object(map, "state")?,
            metadata: object(map, "metadata")?,
        })
    }

    /// This snapshot with only those messages that may be kept.
    pub(crate) fn persistable(mut self) -> Self {
        self.messages = persistable(&self.messages);
        self
    }
}

fn object(map: &Map<String, Value>, key: &str) -> Result<Map<String, Value>> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(value)) => Ok(value.clone()),
        Some(other) => Err(unusable(&format!(
            "{key} must be an object, got {}",
            kind_of(other)
        ))),
    }
}

fn unusable(problem: &str) -> Error {
    Error::new(
        ErrorKind::Protocol,
        format!("the session's snapshot is unusable: {problem}"),
    )
}

/// The messages that a store may keep: neither instructions nor what was marked as transient nor
/// the model's reasoning, and no message that is empty without it.
pub(crate) fn persistable(messages: &[Message]) -> Vec<Message> {
    let kept = messages.iter().filter_map(without_private_parts);
    kept.map(Cow::into_owned).collect()
}

/// Whether [`persistable`] of `messages` is what `known` has.
pub(super) fn is_known(messages: &[Message], known: &[Message]) -> bool {
    let mut known = known.iter();
    messages
        .iter()
        .filter_map(without_private_parts)
        .all(|message| known.next() == Some(&*message))
        && known.next().is_none()
}

fn without_private_parts(message: &Message) -> Option<Cow<'_, Message>> {
    if message.role == Role::System || is_transient(message) {
        return None;
    }
    let is_reasoning = |block: &Content| matches!(block, Content::Reasoning(_));
    if !message.content.iter().any(is_reasoning) {
        return (!message.content.is_empty()).then_some(Cow::Borrowed(message));
    }
    let content: Vec<Content> = message
        .content
        .iter()
        .filter(|block| !is_reasoning(block))
        .cloned()
        .collect();
    (!content.is_empty()).then(|| {
        Cow::Owned(Message {
            role: message.role,
            content: Arc::new(content),
            metadata: unsign(&message.metadata),
        })
    })
}

fn is_transient(message: &Message) -> bool {
    !matches!(
        message.metadata.get("transient"),
        None | Some(Value::Null | Value::Bool(false))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Reasoning;

    fn reasoning() -> Content {
        Content::Reasoning(Reasoning {
            text: "private".into(),
            signature: Some("sig".into()),
            ..Reasoning::default()
        })
    }

    #[test]
    fn only_the_conversation_is_kept() {
        let mut transient = Message::user("for this turn only");
        transient.metadata.insert("transient".into(), json!(true));
        let mut durable = Message::user("kept");
        durable.metadata.insert("transient".into(), json!(false));
        let messages = vec![
            Message::system("instructions"),
            Message::new(Role::Developer, vec![Content::text("of the developer")]),
            transient,
            durable.clone(),
            Message::new(
                Role::Assistant,
                vec![reasoning(), Content::text("an answer")],
            ),
            Message::new(Role::Assistant, vec![reasoning()]),
            Message::new(Role::Assistant, vec![]),
        ];
        let kept = persistable(&messages);
        assert_eq!(
            kept,
            [
                messages[1].clone(),
                durable,
                Message::assistant("an answer")
            ]
        );
        assert!(is_known(&messages, &kept) && is_known(&kept, &kept));
        assert!(!is_known(&messages, &kept[..2]) && !is_known(&messages[..4], &kept));
        assert!(!is_known(&messages, &messages));
    }

    #[test]
    fn a_snapshot_survives_the_round_trip() {
        let snapshot = Snapshot {
            messages: vec![Message::user("Hello")],
            state: json!({"language": "en"}).as_object().cloned().unwrap(),
            metadata: json!({"kind": "support"}).as_object().cloned().unwrap(),
        };
        assert_eq!(
            Snapshot::from_value(&snapshot.to_value()).unwrap(),
            snapshot
        );
        let error = Snapshot::from_value(&json!({"messages": [{"role": "robot"}]})).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol);
    }
}
