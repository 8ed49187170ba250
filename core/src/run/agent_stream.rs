//! Which agent an event of a run comes from.

use std::sync::Arc;

use serde_json::{Value, json};

use super::place::AgentStreamStep;
use super::{EventSender, RunCore};
use crate::agent::AgentInput;
use crate::message::Message;

/// The agent whose event a [`StreamEvent::AgentStream`](crate::StreamEvent::AgentStream) carries.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentStreamSource {
    /// Identifier of the agent.
    pub agent_id: Arc<str>,
    /// Its place among the agents of the run; `/root` at the top.
    pub agent_path: Arc<str>,
    /// Identifier of this invocation of it.
    pub operation_id: Arc<str>,
    /// What the invocation is a part of.
    pub parent_operation_id: Arc<str>,
    /// The assembly steps around it, the outermost first; none at the top.
    pub assembly_path: Arc<[AgentStreamStep]>,
}

impl AgentStreamSource {
    /// `{agent_id, agent_path, assembly_path, operation_id, parent_operation_id}`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let path: Vec<Value> = self
            .assembly_path
            .iter()
            .map(AgentStreamStep::to_value)
            .collect();
        json!({
            "agent_id": *self.agent_id, "agent_path": *self.agent_path, "assembly_path": path,
            "operation_id": *self.operation_id, "parent_operation_id": *self.parent_operation_id,
        })
    }
}

/// The agent of a sender, and what it was asked.
#[derive(Debug)]
pub(super) struct Origin {
    pub(super) source: Arc<AgentStreamSource>,
    pub(super) input: Option<Message>,
}

impl RunCore {
    /// Where the events of an agent go: to the consumer, and when the request wants events of
    /// every agent, also wrapped in what says whose they are.
    pub(crate) fn events_of_agent(
        &self,
        agent_id: &Arc<str>,
        operation_id: &Arc<str>,
        parent_operation_id: &Arc<str>,
        input: &AgentInput,
    ) -> EventSender {
        if !self.invocation.includes_agent_events() {
            return self.events();
        }
        let source = AgentStreamSource {
            agent_id: Arc::clone(agent_id),
            agent_path: Arc::clone(&self.place.agent_path),
            assembly_path: Arc::clone(&self.place.assembly_path),
            operation_id: Arc::clone(operation_id),
            parent_operation_id: Arc::clone(parent_operation_id),
        };
        self.events().of(Origin {
            source: Arc::new(source),
            input: input.message.clone(),
        })
    }
}
