//! A host's claim to the answer of an interjection.

use std::os::fd::RawFd;
use std::process;
use std::sync::Arc;

use parking_lot::Mutex;

use super::WakeSignal;
use crate::agent::{InterjectionResponse, Ticket};
use crate::error::{Error, ErrorKind, Result};

/// A claim to the answer of an interjection, from [`HostRun::interject`](super::HostRun::interject).
///
/// Dropping it withdraws an interjection that was not delivered, unless others wait for the same.
#[derive(Debug)]
pub struct HostTicket {
    pid: u32,
    ticket: Mutex<Option<Ticket>>,
    signal: Arc<WakeSignal>,
}

impl HostTicket {
    pub(super) fn new(ticket: Ticket, signal: Arc<WakeSignal>) -> Self {
        Self {
            pid: process::id(),
            ticket: Mutex::new(Some(ticket)),
            signal,
        }
    }

    /// Readable once the answer is there. Belongs to this value.
    #[must_use]
    pub fn fd(&self) -> RawFd {
        self.signal.fd()
    }

    /// The answer; it can be taken once.
    ///
    /// # Errors
    /// [`ErrorKind::AgentInterjection`] when the agent ended first, [`ErrorKind::DeadlineExceeded`] at the
    /// interjection's deadline; [`ErrorKind::Error`] before there is an answer, and in a forked child.
    pub fn take(&self) -> Result<InterjectionResponse> {
        if process::id() != self.pid {
            return Err(Error::new(
                ErrorKind::Error,
                "this interjection belongs to the parent process and is not answered in its forked child",
            ));
        }
        let mut ticket = self.ticket.lock();
        let answer = ticket.as_mut().and_then(Ticket::take);
        if answer.is_some() {
            *ticket = None;
        }
        answer.unwrap_or_else(|| {
            Err(Error::new(
                ErrorKind::Error,
                "there is no answer to take; wait until the descriptor is readable, and take it once",
            ))
        })
    }

    /// Stops waiting. An interjection that was not delivered never will be, unless others wait
    /// for the same.
    pub fn withdraw(&self) {
        if process::id() == self.pid {
            let ticket = self.ticket.lock().take();
            drop(ticket);
        }
    }
}

impl Drop for HostTicket {
    fn drop(&mut self) {
        if process::id() != self.pid {
            // Locks inside may be held by threads of the parent that do not exist here.
            Box::leak(Box::new(self.ticket.get_mut().take()));
        }
    }
}
