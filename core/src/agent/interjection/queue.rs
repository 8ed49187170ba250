//! The interjections of one invocation, in order of arrival.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;

use super::entry::{Answer, Entry, Progress, Waiter};
use super::ticket::Ticket;
use super::{Interjection, InterjectionResponse};
use crate::error::{Error, ErrorKind, Result};
use crate::executor;
use crate::host::WakeSignal;
use crate::message::Message;
use crate::model::ModelResponse;

/// Interjections that one request may carry.
const MAX_BATCH: usize = 100;

/// Different interjections that one invocation takes.
const MAX_IDS: usize = 1_000;

/// The interjections of one invocation.
#[derive(Debug, Default)]
pub(crate) struct Interjections(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    closed: bool,
    /// Ids that are not delivered yet.
    queue: VecDeque<String>,
    entries: HashMap<String, Entry>,
    waiters: u64,
}

/// Interjections that one request carries.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) ids: Vec<String>,
    pub(crate) batch_key: Option<String>,
    pub(crate) messages: Vec<Message>,
}

impl Interjections {
    /// Queues `interjection`, or joins the one with its id. `signal` is woken with the answer.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for unusable input, [`ErrorKind::AgentInterjection`] when the
    /// invocation takes no more.
    pub(crate) fn add(
        self: &Arc<Self>,
        interjection: Interjection,
        signal: Option<Arc<WakeSignal>>,
    ) -> Result<Ticket> {
        let interjection = interjection.checked()?;
        let id = interjection.id.clone().unwrap_or_default();
        let deadline = interjection.deadline;
        let (ticket, done) = {
            let mut state = self.0.lock();
            if state.closed {
                return Err(over());
            }
            state.admit(&id, interjection)?;
            state.waiters += 1;
            let number = state.waiters;
            let (waiter, receiver) = Waiter::new(number, signal);
            let ticket = Ticket::new(Arc::clone(self), id.clone(), number, receiver);
            (ticket, state.enrol(&id, waiter))
        };
        if let Some((waiter, answer)) = done {
            waiter.answer(answer);
        }
        if let Some(deadline) = deadline {
            let queue = Arc::downgrade(self);
            let number = ticket.number();
            executor::spawn(async move {
                tokio::time::sleep_until(deadline.instant()).await;
                if let Some(queue) = queue.upgrade()
                    && let Some(waiter) = queue.remove(&id, number)
                {
                    waiter.answer(Err(Error::deadline_exceeded()));
                }
            })?;
        }
        Ok(ticket)
    }

    /// The caller no longer waits: an interjection that nobody waits for is not delivered.
    pub(super) fn withdraw(&self, id: &str, number: u64) {
        drop(self.remove(id, number));
    }

    fn remove(&self, id: &str, number: u64) -> Option<Waiter> {
        let mut state = self.0.lock();
        let entry = state.entries.get_mut(id)?;
        let position = entry
            .waiters
            .iter()
            .position(|waiter| waiter.number == number)?;
        let waiter = entry.waiters.swap_remove(position);
        if entry.waiters.is_empty() && matches!(entry.progress, Progress::Queued) {
            state.entries.remove(id);
            state.queue.retain(|queued| queued != id);
        }
        Some(waiter)
    }

    /// What the next request carries, if anything waits.
    pub(crate) fn take(&self) -> Option<Batch> {
        let mut state = self.0.lock();
        let mut batch: Option<Batch> = None;
        while let Some(id) = state.queue.front() {
            let Some(entry) = state.entries.get(id) else {
                state.queue.pop_front();
                continue;
            };
            let key = &entry.interjection.batch_key;
            let joins = batch.as_ref().is_none_or(|batch| {
                key.is_some() && *key == batch.batch_key && batch.ids.len() < MAX_BATCH
            });
            if !joins {
                break;
            }
            let batch = batch.get_or_insert_with(|| Batch {
                ids: Vec::new(),
                batch_key: key.clone(),
                messages: Vec::new(),
            });
            batch.messages.push(entry.interjection.delivered());
            if let Some(id) = state.queue.pop_front() {
                if let Some(entry) = state.entries.get_mut(&id) {
                    entry.progress = Progress::Delivered;
                }
                batch.ids.push(id);
            }
        }
        batch
    }

    /// Hands the model's response to everybody who waits for the batch.
    pub(crate) fn respond(&self, batch: &Batch, response: &ModelResponse) {
        let answer = Ok(InterjectionResponse {
            text: response.message.text(),
            tool_calls: response.message.tool_uses().next().is_some(),
            interjection_ids: batch.ids.clone(),
            batch_key: batch.batch_key.clone(),
        });
        let waiters = {
            let mut state = self.0.lock();
            state.settle(
                |id, _| batch.ids.iter().any(|delivered| delivered == id),
                &answer,
            )
        };
        for waiter in waiters {
            waiter.answer(answer.clone());
        }
    }

    /// Takes no more, unless something waits. False when something does.
    pub(crate) fn close_if_empty(&self) -> bool {
        let mut state = self.0.lock();
        if state.queue.is_empty() {
            state.closed = true;
        }
        state.closed
    }

    /// Takes no more; whoever still waits learns that the invocation is over. Returns the ids that
    /// were not answered.
    pub(crate) fn close(&self) -> Vec<String> {
        let answer = Err(over());
        let (waiters, unanswered) = {
            let mut state = self.0.lock();
            state.closed = true;
            state.queue.clear();
            let open = |entry: &Entry| !matches!(entry.progress, Progress::Answered(_));
            let unanswered: Vec<String> = state
                .entries
                .iter()
                .filter(|(_, entry)| open(entry))
                .map(|(id, _)| id.clone())
                .collect();
            (state.settle(|_, entry| open(entry), &answer), unanswered)
        };
        for waiter in waiters {
            waiter.answer(answer.clone());
        }
        unanswered
    }
}

impl State {
    fn admit(&mut self, id: &str, interjection: Interjection) -> Result<()> {
        if let Some(entry) = self.entries.get(id) {
            if entry.says_the_same(&interjection) {
                return Ok(());
            }
            return Err(Error::new(
                ErrorKind::Argument,
                format!(
                    "interjection: the id {id:?} was already used for another message; \
                     give each message an id of its own"
                ),
            ));
        }
        if self.entries.len() >= MAX_IDS {
            return Err(Error::new(
                ErrorKind::AgentInterjection,
                format!("the agent takes at most {MAX_IDS} interjections in one invocation"),
            ));
        }
        self.queue.push_back(id.to_owned());
        self.entries.insert(id.to_owned(), Entry::new(interjection));
        Ok(())
    }

    /// Has the caller wait, or gives it back with the answer that is already there.
    fn enrol(&mut self, id: &str, waiter: Waiter) -> Option<(Waiter, Answer)> {
        let entry = self.entries.get_mut(id)?;
        if let Progress::Answered(answer) = &entry.progress {
            return Some((waiter, answer.clone()));
        }
        entry.waiters.push(waiter);
        None
    }

    fn settle(&mut self, concerns: impl Fn(&str, &Entry) -> bool, answer: &Answer) -> Vec<Waiter> {
        let mut waiters = Vec::new();
        for (id, entry) in &mut self.entries {
            if concerns(id, entry) {
                entry.progress = Progress::Answered(answer.clone());
                waiters.append(&mut entry.waiters);
            }
        }
        waiters
    }
}

fn over() -> Error {
    Error::new(
        ErrorKind::AgentInterjection,
        "the agent is done and takes no more interjections",
    )
}
