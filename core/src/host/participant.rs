//! Participants of assemblies that a host describes.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::channel::{HostCallKind, HostChannel};
use super::door::Door;
use crate::deadline::Deadline;
use crate::error::Result;
use crate::message::Message;
use crate::run::{Item, Resource, RunCore};

/// A participant in the host's table.
#[derive(Clone, Debug)]
pub(super) struct HostParticipant {
    pub(super) key: Value,
}

impl HostParticipant {
    /// What the host is told when the participant begins its part.
    pub(super) fn opening(&self, part: &RunCore) -> Value {
        let invocation = &part.invocation;
        let history: Vec<Value> = part.history().iter().map(Message::to_value).collect();
        let path: Vec<&str> = part
            .place
            .assembly_path
            .iter()
            .map(|step| &*step.participant)
            .collect();
        json!({
            "participant": self.key, "message": invocation.message().to_value(),
            "history": history, "context": invocation.context(),
            "settings": invocation.settings(), "assembly_path": path,
            "agent_path": *part.place.agent_path,
            "deadline_at": invocation.deadline().map(|deadline| deadline.as_unix()),
            "conversation_id": part.place.conversation_id.as_deref(),
            "crowded": part.place.is_crowded,
        })
    }

    /// Has the host close what it made for the part, when that ends.
    pub(super) fn close_with(channel: &Arc<HostChannel>, part: &RunCore) -> Result<()> {
        let scope = part.place.scope;
        if scope == 0 {
            // The body of the workflow that answers the run, whose end is told anyway.
            return Ok(());
        }
        channel.parts.begin(scope);
        part.resources.register(Box::new(Opened {
            door: Door::new(channel, scope),
            scope,
            patience: part.place.patience,
        }))
    }
}

/// What the host made for a part of the run.
struct Opened {
    door: Door,
    scope: u64,
    /// How long its code has to stop, if that matters to anybody.
    patience: Option<Duration>,
}

#[async_trait]
impl Resource for Opened {
    async fn close(&self) -> Result<()> {
        let channel = &self.door.channel;
        if !channel.parts.end(self.scope) && self.patience.is_none() {
            channel.outbox.push_quietly(Item::PartOver(self.scope));
            return Ok(());
        }
        let payload = match self.patience {
            None => json!({}),
            // Points in time rather than durations: the host closes one part after the other.
            Some(patience) => json!({
                "stop_at": Deadline::after(patience / 2).as_unix(),
                "end_at": Deadline::after(patience).as_unix(),
            }),
        };
        let closed = self.door.call(HostCallKind::Close, payload).await;
        channel.parts.closed(self.scope);
        closed.map(drop)
    }
}
