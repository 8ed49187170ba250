//! Creating subagents.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::{Value, json};
use uuid::Uuid;

use super::answer::{self, NOT_MADE};
use super::caller::{Caller, Mode};
use super::declaration::Kind;
use super::event::{SubagentEvent, SubagentEventKind};
use super::identity::{Identity, QueuedTurn};
use super::manager::{Manager, State};
use super::path;
use crate::error::{Error, ErrorKind, Result};

/// What a new subagent is to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spawn<'a> {
    pub(crate) kind: &'a str,
    pub(crate) task_name: &'a str,
    pub(crate) task: &'a str,
    pub(crate) mode: Mode,
}

impl Manager {
    /// Creates a subagent and queues its first task. In sync mode waits for its answer.
    ///
    /// # Errors
    /// [`ErrorKind::Tool`] for a kind that there is not, an unusable name, one that is taken, and a closed
    /// manager; what the session store fails with.
    pub(crate) async fn spawn(self: &Arc<Self>, spawn: Spawn<'_>, caller: Caller) -> Result<Value> {
        let kind = self.kind(spawn.kind)?.clone();
        let path: Arc<str> = path::join(&self.path, spawn.task_name)
            .map_err(|error| Error::tool(error.message().to_owned()))?
            .into();
        let limit = self.limits.max_message_chars;
        if let Some(refusal) = answer::unusable("the task", spawn.task, limit) {
            return Ok(refusal);
        }
        let stored = match &self.ledger {
            Some(ledger) => ledger.records().await?.contains_key(&*path),
            None => false,
        };
        let conversation_id: Arc<str> = Uuid::new_v4().to_string().into();
        {
            let mut state = self.state.lock();
            self.check_open(&state)?;
            if stored || state.identities.contains_key(&path) {
                return Err(Error::tool(format!(
                    "there is already a subagent {path}; choose another task_name, or send it a message"
                )));
            }
            if let Some(refusal) = self.full(&state) {
                return Ok(refusal);
            }
            state.created += 1;
            state.turns += 1;
            let identity = Identity::new(
                Arc::clone(&path),
                Arc::clone(&conversation_id),
                kind.clone(),
            );
            state.identities.insert(Arc::clone(&path), identity);
        }
        let crowded = caller.crowded || spawn.mode == Mode::Async || self.is_at_work();
        let place = self.place_of(&path, &conversation_id, &kind, crowded);
        let part = self.part(place, spawn.task, Vec::new(), serde_json::Map::new());
        let opened = match self.open_turn(&kind, part).await {
            Ok(opened) => opened,
            Err(error) => return self.not_made(&path, &kind, error).await,
        };
        let turn = QueuedTurn {
            number: 1,
            operation_id: Uuid::new_v4().to_string().into(),
            parent_operation_id: caller.operation_id,
            text: spawn.task.to_owned(),
            crowded,
            opened: Some(opened),
            waiter: None,
        };
        self.enqueue(&path, turn, spawn.mode, SubagentEventKind::Spawned)
            .await
    }

    pub(super) fn check_open(&self, state: &State) -> Result<()> {
        if state.closed {
            return Err(Error::tool(
                "the subagents are stopped; no more work is taken",
            ));
        }
        Ok(())
    }

    fn full(&self, state: &State) -> Option<Value> {
        let (limits, identities) = (&self.limits, self.limits.max_identities);
        if state.created >= identities {
            let advice = format!(
                "at most {identities} subagents may be created; send messages to those that there are"
            );
            return Some(answer::capacity(identities, advice, None));
        }
        (state.turns >= limits.max_turns).then(|| self.worn_out())
    }

    /// The answer when all turns are used up.
    pub(super) fn worn_out(&self) -> Value {
        let turns = self.limits.max_turns;
        let advice = format!("subagents may take at most {turns} turns; go on without them");
        answer::capacity(turns, advice, None)
    }

    /// No agent could be made: the name is free again.
    async fn not_made(&self, path: &Arc<str>, kind: &Kind, error: Error) -> Result<Value> {
        {
            let mut state = self.state.lock();
            state.identities.remove(path);
            state.created = state.created.saturating_sub(1);
            state.turns = state.turns.saturating_sub(1);
        }
        self.announce_change();
        if error.is(ErrorKind::Cancelled) || error.is(ErrorKind::DeadlineExceeded) {
            return Err(error);
        }
        self.warn("factory", path, &error);
        self.tell(SubagentEvent {
            kind: SubagentEventKind::FactoryFailed,
            subagent_id: Arc::clone(path),
            conversation_id: None,
            resumed: false,
            agent_kind: Arc::clone(&kind.kind),
            status: "failed",
            turn: None,
            operation_id: None,
            parent_operation_id: None,
            tool_call_id: None,
            tool_name: None,
            error_type: Some(error.class_name().to_owned()),
        })
        .await;
        Ok(json!({
            "status": "failed", "subagent_id": **path, "kind": *kind.kind, "error": NOT_MADE,
        }))
    }
}

/// Whether `queue` has room for one more.
pub(super) fn has_room(queue: &VecDeque<QueuedTurn>, limit: usize) -> bool {
    queue.len() < limit
}
