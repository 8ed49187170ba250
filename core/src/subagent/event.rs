//! What happens to subagents, as consumers of the run see it.

use std::sync::Arc;

use serde_json::{Map, Value, json};

/// What happened to a subagent.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubagentEventKind {
    /// It was created, and its first task queued.
    Spawned,
    /// A further message was queued.
    MessageQueued,
    /// It began to work on a task or message.
    TurnStarted,
    /// It said something on the way.
    Activity,
    /// It began to use a tool.
    ToolStarted,
    /// A tool that it used is done.
    ToolFinished,
    /// It answered.
    TurnFinished,
    /// It could not answer.
    TurnFailed,
    /// Its work was given up.
    Cancelled,
    /// It could not be made.
    FactoryFailed,
}

impl SubagentEventKind {
    /// The name, such as `"turn_started"`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Spawned => "spawned",
            Self::MessageQueued => "message_queued",
            Self::TurnStarted => "turn_started",
            Self::Activity => "activity",
            Self::ToolStarted => "tool_started",
            Self::ToolFinished => "tool_finished",
            Self::TurnFinished => "turn_finished",
            Self::TurnFailed => "turn_failed",
            Self::Cancelled => "cancelled",
            Self::FactoryFailed => "factory_failed",
        }
    }
}

/// Something that happened to a subagent.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct SubagentEvent {
    /// What happened.
    pub kind: SubagentEventKind,
    /// Path of the subagent.
    pub subagent_id: Arc<str>,
    /// Identifier of its conversation, once it has one.
    pub conversation_id: Option<Arc<str>>,
    /// Whether it goes on from an earlier run.
    pub resumed: bool,
    /// Which kind of agent it is.
    pub agent_kind: Arc<str>,
    /// Its state afterwards, such as `"running"`.
    pub status: &'static str,
    /// The turn that this is about, counted from one.
    pub turn: Option<u64>,
    /// Identifier of the turn.
    pub operation_id: Option<Arc<str>>,
    /// What the turn is a part of.
    pub parent_operation_id: Option<Arc<str>>,
    /// The tool call that this is about.
    pub tool_call_id: Option<String>,
    /// Name of its tool.
    pub tool_name: Option<String>,
    /// Class name of the failure.
    pub error_type: Option<String>,
}

impl SubagentEvent {
    /// `{event, subagent_id, conversation_id?, resumed, kind, status, turn?, ...}`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| {
            if !value.is_null() {
                map.insert(key.into(), value);
            }
        };
        put("event", json!(self.kind.as_str()));
        put("subagent_id", json!(*self.subagent_id));
        put("conversation_id", json!(self.conversation_id.as_deref()));
        put("resumed", json!(self.resumed));
        put("kind", json!(*self.agent_kind));
        put("status", json!(self.status));
        put("turn", json!(self.turn));
        put("operation_id", json!(self.operation_id.as_deref()));
        put(
            "parent_operation_id",
            json!(self.parent_operation_id.as_deref()),
        );
        put("tool_call_id", json!(self.tool_call_id));
        put("tool_name", json!(self.tool_name));
        put("error_type", json!(self.error_type));
        Value::Object(map)
    }
}
