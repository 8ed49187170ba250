//! Functions of a host that take part in an assembly.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::assembly::message;
use super::channel::{HostCallKind, HostChannel};
use crate::assembly::{Condition, ErrorMatcher, GraphState, Mapper};
use crate::error::{Error, Result};
use crate::message::Message;

/// A function in the host's table.
pub(super) struct HostCode {
    channel: Arc<HostChannel>,
    key: Value,
}

impl HostCode {
    pub(super) fn new(channel: &Arc<HostChannel>, key: &Value) -> Self {
        Self {
            channel: Arc::clone(channel),
            key: key.clone(),
        }
    }

    async fn ask(&self, op: &str, subject: (&str, Value)) -> Result<Value> {
        let mut payload = Map::new();
        payload.insert("op".into(), json!(op));
        payload.insert("key".into(), self.key.clone());
        payload.insert(subject.0.into(), subject.1);
        let payload = Value::Object(payload);
        self.channel.call(HostCallKind::Assembly, payload).await
    }
}

#[async_trait]
impl Condition for HostCode {
    async fn holds(&self, state: &GraphState) -> Result<bool> {
        let answer = self.ask("condition", ("state", state.to_value())).await?;
        Ok(answer == Value::Bool(true))
    }
}

#[async_trait]
impl Mapper for HostCode {
    async fn map(&self, state: &GraphState) -> Result<Message> {
        message(&self.ask("input", ("state", state.to_value())).await?)
    }
}

#[async_trait]
impl ErrorMatcher for HostCode {
    async fn matches(&self, error: &Error) -> Result<bool> {
        let answer = self.ask("matches", ("error", error.to_value())).await?;
        Ok(answer == Value::Bool(true))
    }
}
