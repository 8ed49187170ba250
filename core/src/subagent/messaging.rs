//! Saying more to subagents: at the end of their queue, or into a turn at work.

use std::sync::Arc;

use serde_json::{Value, json};
use uuid::Uuid;

use super::answer;
use super::caller::{Caller, Mode};
use super::event::SubagentEventKind;
use super::identity::{Identity, QueuedTurn, Status};
use super::manager::Manager;
use super::spawning::has_room;
use crate::agent::{Interjection, InterjectionResponse};
use crate::error::{Error, ErrorKind, Result};

impl Manager {
    /// Queues a message. In sync mode waits for its answer.
    ///
    /// # Errors
    /// [`ErrorKind::Tool`] for a subagent that there is not, or that takes no more messages; what the
    /// session store fails with.
    pub(crate) async fn send_message(
        self: &Arc<Self>,
        id: &str,
        message: &str,
        mode: Mode,
        caller: Caller,
    ) -> Result<Value> {
        let limit = self.limits.max_message_chars;
        self.wake(id).await?;
        if let Some(refusal) = answer::unusable("the message", message, limit) {
            return Ok(refusal);
        }
        let crowded = caller.crowded || mode == Mode::Async || self.is_at_work();
        let number = {
            let mut state = self.state.lock();
            self.check_open(&state)?;
            if state.turns >= self.limits.max_turns {
                return Ok(self.worn_out());
            }
            let identity = state.identities.get_mut(id).ok_or_else(|| unknown(id))?;
            if matches!(identity.status, Status::Failed | Status::Cancelled) {
                return Err(Error::tool(format!(
                    "{id} is {} and takes no more messages; spawn a new subagent",
                    identity.status.as_str()
                )));
            }
            let room = self.limits.max_queued_turns_per_identity;
            if !has_room(&identity.queue, room) {
                let advice =
                    format!("at most {room} messages may wait for {id}; wait for its answers");
                return Ok(answer::capacity(room, advice, Some(identity.snapshot())));
            }
            let newest = identity.queue.back().map(|turn| turn.number);
            let active = identity.active.as_ref().map(|turn| turn.number);
            let number = newest.or(active).unwrap_or(identity.latest_turn) + 1;
            state.turns += 1;
            number
        };
        let turn = QueuedTurn {
            number,
            operation_id: Uuid::new_v4().to_string().into(),
            parent_operation_id: caller.operation_id,
            text: message.to_owned(),
            crowded,
            opened: None,
            waiter: None,
        };
        self.enqueue(id, turn, mode, SubagentEventKind::MessageQueued)
            .await
    }

    /// Makes sure that the subagent `id` is here, if need be from an earlier run.
    async fn wake(&self, id: &str) -> Result<()> {
        if self.state.lock().identities.contains_key(id) {
            return Ok(());
        }
        let Some(ledger) = &self.ledger else {
            return Err(unknown(id));
        };
        let records = ledger.records().await?;
        let record = records.get(id).ok_or_else(|| unknown(id))?;
        let kind = self.restorable(&record.kind).ok_or_else(|| unknown(id))?;
        let (history, kept) = ledger.restore(record).await?;
        let path: Arc<str> = id.into();
        let mut identity = Identity::new(
            Arc::clone(&path),
            record.conversation_id.as_str().into(),
            kind.clone(),
        );
        identity.resumed = true;
        identity.latest_turn = record.latest_turn;
        identity.updated_at.clone_from(&record.updated_at);
        identity.history = history;
        identity.state = kept;
        identity.record = Some(record.clone());
        let mut state = self.state.lock();
        // Another call may have been faster.
        state.identities.entry(path).or_insert(identity);
        Ok(())
    }

    /// Says something to the turn at work, and waits for what the model answers at once.
    ///
    /// # Errors
    /// [`ErrorKind::Tool`] when the subagent is not at work, or was told too much already.
    pub(crate) async fn interject(&self, id: &str, message: &str) -> Result<Value> {
        let limit = self.limits.max_message_chars;
        if let Some(refusal) = answer::unusable("the message", message, limit) {
            return Ok(refusal);
        }
        let (operation_id, turn, position) = self.note_interjection(id, message)?;
        let interjection = Interjection::new(message).with_target(&*operation_id);
        let ticket = self.run.root().interject(interjection, None);
        let answered = match ticket {
            Ok(ticket) => ticket.await,
            Err(error) => Err(error),
        };
        match answered {
            Ok(response) => {
                self.note_answer(id, turn, position, &response.text);
                Ok(self.delivered(id, turn, response))
            }
            Err(error) if error.is(ErrorKind::AgentInterjection) => Err(not_running(id)),
            Err(error) => Err(error),
        }
    }

    fn note_interjection(&self, id: &str, message: &str) -> Result<(Arc<str>, u64, usize)> {
        let mut state = self.state.lock();
        self.check_open(&state)?;
        let identity = state.identities.get_mut(id).ok_or_else(|| unknown(id))?;
        if identity.status != Status::Running {
            return Err(not_running(id));
        }
        let active = identity.active.as_mut().ok_or_else(|| not_running(id))?;
        let most = self.limits.max_queued_turns_per_identity;
        if active.interjections.len() >= most {
            return Err(Error::tool(format!(
                "{id} takes at most {most} interjections in one turn; send it a message instead"
            )));
        }
        let chars = active.interjected + message.chars().count();
        if chars > self.limits.max_message_chars {
            return Err(Error::tool(format!(
                "interjections into one turn of {id} may have at most {} characters together",
                self.limits.max_message_chars
            )));
        }
        active.interjected = chars;
        active.interjections.push((message.to_owned(), None));
        let position = active.interjections.len() - 1;
        Ok((Arc::clone(&active.operation_id), active.number, position))
    }

    fn note_answer(&self, id: &str, turn: u64, position: usize, text: &str) {
        self.with(id, |identity| {
            if let Some(active) = identity
                .active
                .as_mut()
                .filter(|active| active.number == turn)
                && let Some((_, answered)) = active.interjections.get_mut(position)
            {
                *answered = Some(text.to_owned());
            }
        });
    }

    fn delivered(&self, id: &str, turn: u64, response: InterjectionResponse) -> Value {
        let (text, truncated) = answer::cut(response.text, self.limits.max_response_chars);
        let disposition = if response.tool_calls {
            "text_with_tool_calls"
        } else {
            "text_only"
        };
        let seen = self.with(id, |identity| {
            (Arc::clone(&identity.kind.kind), identity.snapshot())
        });
        let (kind, snapshot) = seen.unwrap_or_default();
        let mut answer = json!({
            "status": "interjection_delivered", "subagent_id": id, "kind": *kind,
            "subagent": snapshot, "turn": turn, "response": text, "response_disposition": disposition,
        });
        if let (true, Some(answer)) = (truncated, answer.as_object_mut()) {
            answer.insert("response_truncated".into(), json!(true));
        }
        answer
    }
}

pub(super) fn unknown(id: &str) -> Error {
    Error::tool(format!(
        "there is no subagent {id:?}; list_subagents says which there are"
    ))
}

fn not_running(id: &str) -> Error {
    Error::tool(format!(
        "{id} is not running, so there is nothing to interject into; send it a message instead"
    ))
}
