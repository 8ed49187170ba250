//! What has happened to a workspace so far.

use std::sync::Arc;

use tokio::sync::watch;

use crate::error::{Error, ErrorKind, Result};

pub(crate) enum Phase<T> {
    Unopened,
    Opening,
    /// Opening was given up half-way; what it set up is still there.
    CutOff,
    Open(Arc<T>),
    Closed,
}

/// Sees to it that opening and closing happen once, without a lock while the application's code runs.
pub(crate) struct Phases<T>(Arc<watch::Sender<Phase<T>>>);

impl<T> Phases<T> {
    pub(super) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(Phase::Unopened)))
    }

    /// What opening brought, while it is open.
    pub(super) fn opened(&self) -> Option<Arc<T>> {
        match &*self.0.borrow() {
            Phase::Open(opened) => Some(Arc::clone(opened)),
            _ => None,
        }
    }

    /// Makes the caller the one who opens; `None` when it is open, after a wait for whoever opens it.
    pub(super) async fn begin_opening(&self) -> Result<Option<Opening<T>>> {
        let mut changes = self.0.subscribe();
        loop {
            let mut claimed = false;
            let mut open = false;
            let mut over = false;
            self.0.send_if_modified(|phase| {
                match phase {
                    Phase::Unopened => {
                        *phase = Phase::Opening;
                        claimed = true;
                    }
                    Phase::Open(_) => open = true,
                    Phase::CutOff | Phase::Closed => over = true,
                    Phase::Opening => {}
                }
                claimed
            });
            if claimed {
                return Ok(Some(Opening {
                    phases: Self(Arc::clone(&self.0)),
                    settled: false,
                }));
            }
            if open {
                return Ok(None);
            }
            if over || changes.changed().await.is_err() {
                return Err(Error::new(
                    ErrorKind::Error,
                    "the workspace was closed; make a new one for new work",
                ));
            }
        }
    }

    /// Closes. Whether there is something to tear down: only for the first caller, and only when it was
    /// opened, be it in part.
    pub(super) async fn begin_closing(&self) -> bool {
        let mut changes = self.0.subscribe();
        loop {
            let mut wait = false;
            let mut owed = false;
            self.0.send_if_modified(|phase| {
                match phase {
                    Phase::Opening => wait = true,
                    Phase::Open(_) | Phase::CutOff => owed = true,
                    Phase::Unopened | Phase::Closed => {}
                }
                if wait {
                    return false;
                }
                *phase = Phase::Closed;
                true
            });
            if !wait {
                return owed;
            }
            if changes.changed().await.is_err() {
                return false;
            }
        }
    }
}

/// An opening in progress. Dropped before it is settled, it was cut off.
pub(crate) struct Opening<T> {
    phases: Phases<T>,
    settled: bool,
}

impl<T> Opening<T> {
    pub(crate) fn opened(mut self, opened: T) {
        self.settled = true;
        self.phases.0.send_replace(Phase::Open(Arc::new(opened)));
    }

    /// It failed, and was torn down.
    pub(crate) fn failed(mut self) {
        self.settled = true;
        self.phases.0.send_replace(Phase::Closed);
    }
}

impl<T> Drop for Opening<T> {
    fn drop(&mut self) {
        if !self.settled {
            self.phases.0.send_replace(Phase::CutOff);
        }
    }
}
