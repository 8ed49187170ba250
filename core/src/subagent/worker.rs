//! Working off the queue of a subagent.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, oneshot, watch};

use super::answer::{self, BEHIND, CANCELLED, FAILED};
use super::caller::Mode;
use super::event::SubagentEventKind;
use super::identity::{ActiveTurn, Identity, QueuedTurn, Response, Status};
use super::manager::Manager;
use super::messaging::unknown;
use super::turn::Ended;
use crate::error::{Error, ErrorKind, Result};
use crate::executor;
use crate::host;
use tokio_util::sync::CancellationToken;

impl Manager {
    /// Puts `turn` at the end of the queue, and waits for its outcome in sync mode.
    pub(super) async fn enqueue(
        self: &Arc<Self>,
        path: &str,
        mut turn: QueuedTurn,
        mode: Mode,
        kind: SubagentEventKind,
    ) -> Result<Value> {
        let waiting = (mode == Mode::Sync).then(|| {
            let (sender, receiver) = oneshot::channel();
            turn.waiter = Some(sender);
            receiver
        });
        let closed = self.state.lock().closed;
        if closed && let Some(opened) = turn.opened.take() {
            opened.part.resources.close().await;
        }
        let (event, starts) = {
            let mut state = self.state.lock();
            // A manager that was closed meanwhile takes nothing.
            self.check_open(&state)?;
            let identity = state
                .identities
                .get_mut(path)
                .ok_or_else(|| unknown(path))?;
            if identity.status.is_finished() {
                identity.change_to(Status::Queued);
                identity.progress = Default::default();
            }
            let event = identity.event_of(kind, &turn);
            identity.queue.push_back(turn);
            (event, !std::mem::replace(&mut identity.is_worked, true))
        };
        self.tell(event).await;
        if starts {
            self.start(path)?;
        }
        self.announce_change();
        match waiting {
            Some(outcome) => outcome.await.map_err(|_| Error::cancelled()),
            None => self
                .with(path, |identity| answer::working(identity))
                .ok_or_else(|| unknown(path)),
        }
    }

    /// Whether any turn works or waits.
    pub(super) fn is_at_work(&self) -> bool {
        *self.busy.borrow() > 0
    }

    fn start(self: &Arc<Self>, path: &str) -> Result<()> {
        let manager = Arc::clone(self);
        let path: Arc<str> = path.into();
        let busy = Busy::begin(&self.busy);
        let killed = self.killed.clone();
        executor::spawn(host::inherit(async move {
            let _busy = busy;
            tokio::select! {
                biased;
                () = killed.cancelled() => {}
                () = manager.work(&path) => {}
            }
            manager.announce_change();
        }))
    }

    /// Takes the turns of one subagent, one after the other.
    async fn work(self: &Arc<Self>, path: &Arc<str>) {
        while let Some(()) = self.has_more(path) {
            let permit = self.permit().await;
            let Some(turn) = self.take(path) else {
                continue;
            };
            self.take_turn(path, turn).await;
            drop(permit);
        }
    }

    /// Whether something is queued; if not, nobody works any more.
    fn has_more(&self, path: &str) -> Option<()> {
        let mut state = self.state.lock();
        let closed = state.closed;
        let identity = state.identities.get_mut(path)?;
        if closed && !identity.queue.is_empty() {
            identity.change_to(Status::Cancelled);
            // Dropping the senders says that the work was cancelled.
            drop(give_up(identity));
        }
        identity.is_worked = !identity.queue.is_empty();
        identity.is_worked.then_some(())
    }

    async fn permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.permits).acquire_owned().await.ok()
    }

    fn take(&self, path: &str) -> Option<QueuedTurn> {
        self.with(path, |identity| {
            let turn = identity.queue.pop_front()?;
            identity.active = Some(ActiveTurn {
                number: turn.number,
                operation_id: Arc::clone(&turn.operation_id),
                parent_operation_id: turn.parent_operation_id.clone(),
                token: CancellationToken::new(),
                interjections: Vec::new(),
                interjected: 0,
            });
            identity.latest_turn = turn.number;
            identity.progress = Default::default();
            identity.change_to(Status::Running);
            Some(turn)
        })?
    }

    async fn take_turn(self: &Arc<Self>, path: &Arc<str>, mut turn: QueuedTurn) {
        let (number, waiter) = (turn.number, turn.waiter.take());
        let ended = self.perform(path, turn).await;
        let (answer, event) = match ended {
            Ok(ended) => self.succeed(path, number, ended),
            Err(error) => self.fail(path, number, &error),
        };
        let behind = self.settle_queue(path);
        if let Some(event) = event {
            self.tell(event).await;
        }
        self.announce_change();
        if let Some(waiter) = waiter {
            // Whoever waited may be gone.
            let _ = waiter.send(answer);
        }
        for (waiter, answer) in behind {
            let _ = waiter.send(answer);
        }
    }

    fn succeed(
        &self,
        path: &str,
        number: u64,
        ended: Ended,
    ) -> (Value, Option<super::SubagentEvent>) {
        self.with(path, |identity| {
            let response: Response = ended.response;
            identity.history = ended.history;
            identity.state = ended.state;
            identity.record = ended.record.or(identity.record.take());
            identity.change_to(Status::Idle);
            let event = identity.event(SubagentEventKind::TurnFinished);
            identity.active = None;
            let answer = answer::finished(identity, &response);
            identity.response = Some(Response {
                turn: number,
                ..response
            });
            if !identity.queue.is_empty() {
                identity.change_to(Status::Queued);
            }
            (answer, Some(event))
        })
        .unwrap_or_default()
    }

    fn fail(
        &self,
        path: &str,
        number: u64,
        error: &Error,
    ) -> (Value, Option<super::SubagentEvent>) {
        let cancelled = error.is(ErrorKind::Cancelled);
        if !cancelled {
            self.warn("turn", path, error);
        }
        if error.is(ErrorKind::Cleanup) {
            self.unclean.lock().get_or_insert_with(|| error.clone());
        }
        let (status, text, kind) = if cancelled {
            (Status::Cancelled, CANCELLED, SubagentEventKind::Cancelled)
        } else {
            (Status::Failed, FAILED, SubagentEventKind::TurnFailed)
        };
        self.with(path, |identity| {
            identity.change_to(status);
            identity.error = Some(text);
            let mut event = identity.event(kind);
            event.error_type = Some(error.class_name().to_owned());
            identity.active = None;
            (
                answer::over(identity, status.as_str(), number, text),
                Some(event),
            )
        })
        .unwrap_or_default()
    }

    /// Gives up what is queued behind a turn that did not end well.
    fn settle_queue(&self, path: &str) -> Vec<(oneshot::Sender<Value>, Value)> {
        let given_up = self.with(path, |identity| {
            if !matches!(identity.status, Status::Failed | Status::Cancelled) {
                return Vec::new();
            }
            give_up(identity)
        });
        given_up.unwrap_or_default()
    }
}

/// Empties the queue of a subagent that takes no more turns; who is to be told, and what.
pub(super) fn give_up(identity: &mut Identity) -> Vec<(oneshot::Sender<Value>, Value)> {
    let (status, text) = match identity.status {
        Status::Cancelled => ("cancelled", CANCELLED),
        _ => ("failed", BEHIND),
    };
    let queued = std::mem::take(&mut identity.queue);
    queued
        .into_iter()
        .filter_map(|turn| {
            let answer = answer::over(identity, status, turn.number, text);
            Some((turn.waiter?, answer))
        })
        .collect()
}

/// Counts a task as long as it lasts.
struct Busy(watch::Sender<usize>);

impl Busy {
    fn begin(count: &watch::Sender<usize>) -> Self {
        count.send_modify(|count| *count += 1);
        Self(count.clone())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}
