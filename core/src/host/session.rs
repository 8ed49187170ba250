//! The session of a host's run: stores that the host has written, its state, its hooks.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::channel::{HostCallKind, HostChannel};
use crate::error::{Error, ErrorKind, Result};
use crate::message::Message;
use crate::run::ConversationHost;
use crate::session::{SessionGuard, SessionKey, SessionStore, Snapshot};

/// The conversation that a host's run continues.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// Identifier of the conversation.
    pub id: String,
    /// The actor that owns it.
    pub actor_id: Option<String>,
    /// Metadata of a conversation that has none yet.
    pub metadata: Map<String, Value>,
    /// One of the engine's stores, or `None` for one that the host has written, which is reached
    /// through `session` calls.
    pub store: Option<Arc<dyn SessionStore>>,
}

/// A session store that the host has written.
pub(super) struct CalledStore {
    pub(super) channel: Arc<HostChannel>,
}

impl CalledStore {
    async fn call(&self, operation: &str, key: &SessionKey, more: Value) -> Result<Value> {
        let mut payload = json!({
            "op": operation, "id": key.id, "actor_id": key.actor_id,
        });
        if let (Value::Object(payload), Value::Object(more)) = (&mut payload, more) {
            payload.extend(more);
        }
        self.channel.call(HostCallKind::Session, payload).await
    }
}

#[async_trait]
impl SessionStore for CalledStore {
    async fn load(&self, key: &SessionKey) -> Result<Option<Snapshot>> {
        match self.call("load", key, json!({})).await? {
            Value::Null => Ok(None),
            snapshot => Snapshot::from_value(&snapshot).map(Some),
        }
    }

    async fn append(
        &self,
        key: &SessionKey,
        addition: Snapshot,
        expected_count: usize,
    ) -> Result<()> {
        let mut more = addition.to_value();
        if let Value::Object(more) = &mut more {
            more.insert("expected_count".into(), json!(expected_count));
        }
        self.call("append", key, more).await.map(drop)
    }

    async fn replace(&self, key: &SessionKey, snapshot: Snapshot) -> Result<()> {
        self.call("replace", key, snapshot.to_value())
            .await
            .map(drop)
    }

    async fn synchronize(&self, key: &SessionKey) -> Result<SessionGuard> {
        self.call("synchronize", key, json!({})).await?;
        let channel = Arc::clone(&self.channel);
        Ok(SessionGuard::releasing(async move {
            let payload = json!({"op": "release"});
            channel.call(HostCallKind::Session, payload).await.map(drop)
        }))
    }
}

/// What a host does for the session of its run.
pub(super) struct HostConversation {
    pub(super) channel: Arc<HostChannel>,
    /// Whether the host's hooks want to choose the history.
    pub(super) chooses_history: bool,
    /// Whether somebody reads events, who may change the state between two of them.
    pub(super) has_consumer: bool,
}

#[async_trait]
impl ConversationHost for HostConversation {
    async fn state(&self, last: bool) -> Result<Option<Map<String, Value>>> {
        let touched = self.channel.was_touched();
        let may_differ = touched || (last && self.has_consumer);
        if !may_differ {
            return Ok(None);
        }
        let state = self.channel.call(HostCallKind::State, json!({})).await?;
        object(state).map(Some)
    }

    async fn restore_state(&self, stored: &Map<String, Value>) -> Result<Map<String, Value>> {
        let payload = json!({"state": stored});
        let state = self
            .channel
            .call(HostCallKind::StateRestored, payload)
            .await?;
        let state = object(state)?;
        self.channel.was_touched();
        Ok(state)
    }

    async fn history(
        &self,
        stored: &[Message],
        fallback: &[Message],
    ) -> Result<Option<Vec<Message>>> {
        if !self.chooses_history {
            return Ok(None);
        }
        let values = |messages: &[Message]| messages.iter().map(Message::to_value).collect();
        let payload = json!({
            "name": "session_history",
            "stored": Value::Array(values(stored)),
            "fallback": Value::Array(values(fallback)),
        });
        match self.channel.call(HostCallKind::Hook, payload).await? {
            Value::Null => Ok(None),
            Value::Array(messages) => messages
                .iter()
                .map(Message::from_value)
                .collect::<Result<_>>()
                .map(Some),
            _ => Err(Error::new(
                ErrorKind::Configuration,
                "a session_history hook must give an array of messages or nothing",
            )),
        }
    }
}

fn object(state: Value) -> Result<Map<String, Value>> {
    match state {
        Value::Object(state) => Ok(state),
        _ => Err(Error::new(
            ErrorKind::Configuration,
            "the state of a run must be an object",
        )),
    }
}
