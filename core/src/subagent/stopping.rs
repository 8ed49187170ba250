//! Stopping subagents.

use std::sync::Arc;
use std::time::Duration;

use super::event::SubagentEventKind;
use super::identity::Status;
use super::manager::Manager;
use super::worker::give_up;
use crate::error::{Error, ErrorKind, Result};

/// What tasks get beyond the limit of the code that they wait for, to end themselves.
const GRACE: Duration = Duration::from_secs(1);

impl Manager {
    /// Takes no more work, gives up what is queued, and stops what is at work. May be called again.
    ///
    /// # Errors
    /// [`ErrorKind::Cleanup`] when something did not stop in time.
    pub(crate) async fn close(self: &Arc<Self>) -> Result<()> {
        let (events, waiters) = self.cancel_all();
        for event in events {
            self.tell(event).await;
        }
        self.announce_change();
        for (waiter, answer) in waiters {
            let _ = waiter.send(answer);
        }
        let mut busy = self.busy.subscribe();
        let timeout = self.limits.close_timeout + GRACE;
        let stopped = tokio::time::timeout(timeout, busy.wait_for(|busy| *busy == 0)).await;
        if stopped.is_ok() {
            return self.unclean.lock().take().map_or(Ok(()), Err);
        }
        let left = *self.busy.borrow();
        // Drops their futures; code that runs on another thread is not reached by that.
        self.killed.cancel();
        Err(Error::new(
            ErrorKind::Cleanup,
            format!(
                "{left} subagents did not stop within {:?}; code of theirs may still be running",
                self.limits.close_timeout
            ),
        ))
    }

    fn cancel_all(
        &self,
    ) -> (
        Vec<super::SubagentEvent>,
        Vec<(
            tokio::sync::oneshot::Sender<serde_json::Value>,
            serde_json::Value,
        )>,
    ) {
        let mut state = self.state.lock();
        state.closed = true;
        let (mut events, mut waiters) = (Vec::new(), Vec::new());
        for identity in state.identities.values_mut() {
            if let Some(active) = &identity.active {
                active.token.cancel();
                continue;
            }
            if identity.status == Status::Queued {
                identity.change_to(Status::Cancelled);
                identity.error = Some(super::answer::CANCELLED);
                if let Some(turn) = identity.queue.front() {
                    events.push(identity.event_of(SubagentEventKind::Cancelled, turn));
                }
                waiters.extend(give_up(identity));
            }
        }
        (events, waiters)
    }
}
