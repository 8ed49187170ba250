//! One subagent: its conversation, its queue, and how far it is.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::declaration::Kind;
use super::event::{SubagentEvent, SubagentEventKind};
use super::record::{Record, now};
use super::turn::OpenedTurn;
use crate::message::Message;

/// How far a subagent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Idle,
    Queued,
    Running,
    Persisting,
    Failed,
    Cancelled,
}

impl Status {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Status::Idle => "idle",
            Status::Queued => "queued",
            Status::Running => "running",
            Status::Persisting => "persisting",
            Status::Failed => "failed",
            Status::Cancelled => "cancelled",
        }
    }

    /// Whether nothing is to be waited for.
    pub(super) const fn is_finished(self) -> bool {
        matches!(self, Status::Idle | Status::Failed | Status::Cancelled)
    }
}

/// A task or message that waits for its turn.
pub(super) struct QueuedTurn {
    pub(super) number: u64,
    pub(super) operation_id: Arc<str>,
    pub(super) parent_operation_id: Option<Arc<str>>,
    pub(super) text: String,
    pub(super) crowded: bool,
    /// The first turn's agent, made while the subagent was created.
    pub(super) opened: Option<OpenedTurn>,
    /// Who waits for the outcome.
    pub(super) waiter: Option<oneshot::Sender<Value>>,
}

/// The turn at work.
#[derive(Debug)]
pub(super) struct ActiveTurn {
    pub(super) number: u64,
    pub(super) operation_id: Arc<str>,
    pub(super) parent_operation_id: Option<Arc<str>>,
    pub(super) token: CancellationToken,
    /// What was said to it meanwhile, and what it answered.
    pub(super) interjections: Vec<(String, Option<String>)>,
    /// Characters of that.
    pub(super) interjected: usize,
}

/// What a subagent answered last.
#[derive(Clone, Debug)]
pub(super) struct Response {
    pub(super) turn: u64,
    pub(super) value: Value,
    pub(super) truncated: bool,
}

/// One subagent.
pub(super) struct Identity {
    pub(super) path: Arc<str>,
    pub(super) conversation_id: Arc<str>,
    pub(super) kind: Kind,
    pub(super) resumed: bool,
    pub(super) status: Status,
    pub(super) updated_at: String,
    pub(super) latest_turn: u64,
    pub(super) queue: VecDeque<QueuedTurn>,
    pub(super) active: Option<ActiveTurn>,
    /// Whether a task works off the queue.
    pub(super) is_worked: bool,
    pub(super) history: Vec<Message>,
    pub(super) state: Map<String, Value>,
    pub(super) response: Option<Response>,
    pub(super) error: Option<&'static str>,
    pub(super) progress: Progress,
    /// What later runs may go on from.
    pub(super) record: Option<Record>,
}

/// What is seen of a turn at work.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    pub(super) sequence: u64,
    pub(super) message: Option<String>,
}

impl Identity {
    pub(super) fn new(path: Arc<str>, conversation_id: Arc<str>, kind: Kind) -> Self {
        Self {
            path,
            conversation_id,
            kind,
            resumed: false,
            status: Status::Idle,
            updated_at: now(),
            latest_turn: 0,
            queue: VecDeque::new(),
            active: None,
            is_worked: false,
            history: Vec::new(),
            state: Map::new(),
            response: None,
            error: None,
            progress: Progress::default(),
            record: None,
        }
    }

    /// Changes the status, now.
    pub(super) fn change_to(&mut self, status: Status) {
        self.status = status;
        self.updated_at = now();
    }

    /// What a model and others see of it.
    pub(super) fn snapshot(&self) -> Value {
        let mut map = outline(
            &self.path,
            &self.conversation_id,
            &self.kind.kind,
            self.status,
        );
        let current = self.active.as_ref().map(|turn| turn.number);
        map.insert("current_turn".into(), json!(current));
        map.insert("latest_turn".into(), json!(self.latest_turn));
        map.insert("queued_turns".into(), json!(self.queue.len()));
        if self.resumed {
            map.insert("resumed".into(), json!(true));
        }
        if let Some(error) = self.error {
            map.insert("error".into(), json!(error));
        }
        if let Some(response) = &self.response {
            let is_latest = self.status == Status::Idle && response.turn == self.latest_turn;
            let prefix = if is_latest { "" } else { "previous_" };
            map.insert(format!("{prefix}response"), response.value.clone());
            map.insert(format!("{prefix}response_turn"), json!(response.turn));
            if response.truncated {
                map.insert(format!("{prefix}response_truncated"), json!(true));
            }
        }
        if matches!(self.status, Status::Queued | Status::Running) {
            let mut progress = json!({"sequence": self.progress.sequence});
            if let (Some(message), Some(map)) = (&self.progress.message, progress.as_object_mut()) {
                map.insert("message".into(), json!(message));
            }
            map.insert("progress".into(), progress);
        }
        Value::Object(map)
    }

    /// An event about it, and the turn at work.
    pub(super) fn event(&self, kind: SubagentEventKind) -> SubagentEvent {
        let turn = self.active.as_ref();
        SubagentEvent {
            kind,
            subagent_id: Arc::clone(&self.path),
            conversation_id: Some(Arc::clone(&self.conversation_id)),
            resumed: self.resumed,
            agent_kind: Arc::clone(&self.kind.kind),
            status: self.status.as_str(),
            turn: turn.map(|turn| turn.number),
            operation_id: turn.map(|turn| Arc::clone(&turn.operation_id)),
            parent_operation_id: turn.and_then(|turn| turn.parent_operation_id.clone()),
            tool_call_id: None,
            tool_name: None,
            error_type: None,
        }
    }

    /// An event about a turn that waits.
    pub(super) fn event_of(&self, kind: SubagentEventKind, turn: &QueuedTurn) -> SubagentEvent {
        SubagentEvent {
            turn: Some(turn.number),
            operation_id: Some(Arc::clone(&turn.operation_id)),
            parent_operation_id: turn.parent_operation_id.clone(),
            ..self.event(kind)
        }
    }
}

/// The snapshot of a conversation that no turn of this run has gone on with.
pub(super) fn dormant(path: &str, record: &Record) -> Value {
    let mut map = outline(path, &record.conversation_id, &record.kind, Status::Idle);
    map.insert("current_turn".into(), Value::Null);
    map.insert("latest_turn".into(), json!(record.latest_turn));
    map.insert("queued_turns".into(), json!(0));
    map.insert("resumed".into(), json!(true));
    Value::Object(map)
}

fn outline(path: &str, conversation_id: &str, kind: &str, status: Status) -> Map<String, Value> {
    let mut map = Map::new();
    map.insert("subagent_id".into(), json!(path));
    map.insert("conversation_id".into(), json!(conversation_id));
    map.insert("kind".into(), json!(kind));
    map.insert("status".into(), json!(status.as_str()));
    map
}
