//! One interjection in its queue, and everybody who waits for its answer.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::{Interjection, InterjectionResponse};
use crate::error::Result;
use crate::host::WakeSignal;

/// The answer to an interjection, for each of its callers.
pub(super) type Answer = Result<InterjectionResponse>;

/// How far an interjection is.
#[derive(Debug)]
pub(super) enum Progress {
    /// Not yet part of a request.
    Queued,
    /// Part of the request in progress.
    Delivered,
    /// Over; later callers get the same answer.
    Answered(Answer),
}

/// A caller that waits.
#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) number: u64,
    sender: oneshot::Sender<Answer>,
    signal: Option<Arc<WakeSignal>>,
}

impl Waiter {
    pub(super) fn new(
        number: u64,
        signal: Option<Arc<WakeSignal>>,
    ) -> (Self, oneshot::Receiver<Answer>) {
        let (sender, receiver) = oneshot::channel();
        let waiter = Self {
            number,
            sender,
            signal,
        };
        (waiter, receiver)
    }

    pub(super) fn answer(self, answer: Answer) {
        let _ = self.sender.send(answer);
        if let Some(signal) = self.signal {
            signal.wake();
        }
    }
}

/// One interjection and its callers.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) interjection: Interjection,
    pub(super) progress: Progress,
    pub(super) waiters: Vec<Waiter>,
}

impl Entry {
    pub(super) fn new(interjection: Interjection) -> Self {
        Self {
            interjection,
            progress: Progress::Queued,
            waiters: Vec::new(),
        }
    }

    /// Whether `other` says the same, so that it may share this entry.
    pub(super) fn says_the_same(&self, other: &Interjection) -> bool {
        self.interjection.message == other.message
            && self.interjection.batch_key == other.batch_key
            && self.interjection.metadata == other.metadata
    }
}
