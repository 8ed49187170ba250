//! The tool with which a member gives the request away.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use super::MemberDefinition;
use crate::error::{Error, ErrorKind, Result};
use crate::tool::{RunContext, Tool, ToolDefinition};

/// The tool's name.
const NAME: &str = "handoff_to_agent";

/// A request that changes hands.
#[derive(Clone, Debug)]
pub(super) struct Handoff {
    pub(super) agent_id: Arc<str>,
    pub(super) message: String,
    pub(super) context: Option<Value>,
}

/// Where a member leaves the handoff that it decided on.
#[derive(Clone, Default)]
pub(super) struct Slot(Arc<Mutex<Option<Handoff>>>);

impl Slot {
    pub(super) fn take(&self) -> Option<Handoff> {
        self.0.lock().take()
    }

    pub(super) fn clear(&self) {
        self.0.lock().take();
    }

    pub(super) fn is_taken(&self) -> bool {
        self.0.lock().is_some()
    }

    /// What the step of a member that hands off keeps as its output.
    pub(super) fn as_output(&self) -> Arc<dyn Fn() -> Option<Value> + Send + Sync> {
        let slot = self.clone();
        Arc::new(move || {
            let handoff = slot.0.lock().clone()?;
            let mut output = json!({"agent_id": *handoff.agent_id, "message": handoff.message});
            if let (Some(context), Some(map)) = (handoff.context, output.as_object_mut()) {
                map.insert("context".into(), context);
            }
            Some(output)
        })
    }

    fn put(&self, handoff: Handoff) -> Result<()> {
        let mut slot = self.0.lock();
        if slot.is_some() {
            return Err(Error::new(
                ErrorKind::Protocol,
                "the member handed off twice in one turn",
            ));
        }
        *slot = Some(handoff);
        Ok(())
    }
}

/// The tool itself.
pub(super) struct HandoffTool {
    definition: ToolDefinition,
    targets: Vec<Arc<str>>,
    slot: Slot,
}

impl HandoffTool {
    pub(super) fn new(targets: &[&MemberDefinition], slot: &Slot) -> Result<Self> {
        let ids: Vec<&str> = targets.iter().map(|member| &*member.id).collect();
        let list: Vec<String> = targets
            .iter()
            .map(|member| format!("- {}: {}", member.id, member.agent.description))
            .collect();
        let description = format!(
            "Hand the request over to another agent, which then answers it instead of you. Call \
             nothing else in the same response. The agents:\n{}",
            list.join("\n")
        );
        let schema = json!({
            "type": "object", "additionalProperties": false, "required": ["agent_id", "message"],
            "properties": {
                "agent_id": {"type": "string", "enum": ids, "description": "Who takes over."},
                "message": {"type": "string", "description": "What the agent has to know and to do."},
                "context": {"type": "object", "description": "Facts for it, as data."},
            },
        });
        Ok(Self {
            definition: ToolDefinition::new(NAME, description, schema)?,
            targets: targets
                .iter()
                .map(|member| Arc::clone(&member.id))
                .collect(),
            slot: slot.clone(),
        })
    }
}

#[async_trait]
impl Tool for HandoffTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: Map<String, Value>, context: &RunContext) -> Result<Value> {
        if context.conversation().calls_at_once() > 1 {
            return Err(Error::tool(
                "not handed off: handoff_to_agent must be the only call of a response; call it again alone",
            ));
        }
        let text = |key: &str| input.get(key).and_then(Value::as_str).unwrap_or_default();
        let target = self
            .targets
            .iter()
            .find(|target| ***target == *text("agent_id"))
            .ok_or_else(|| Error::tool("there is no such agent to hand off to"))?;
        self.slot.put(Handoff {
            agent_id: Arc::clone(target),
            message: text("message").to_owned(),
            context: input
                .get("context")
                .filter(|value| !value.is_null())
                .cloned(),
        })?;
        Ok(json!(format!("Handed off to {target}.")))
    }
}
