//! A caller's claim to the answer of its interjection.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::oneshot;

use super::entry::Answer;
use super::queue::Interjections;
use crate::error::{Error, ErrorKind};

/// A claim to the answer. Dropping it before delivery withdraws the interjection, unless
/// others wait for the same.
#[derive(Debug)]
pub(crate) struct Ticket {
    queue: Arc<Interjections>,
    id: String,
    number: u64,
    receiver: oneshot::Receiver<Answer>,
}

impl Ticket {
    pub(super) fn new(
        queue: Arc<Interjections>,
        id: String,
        number: u64,
        receiver: oneshot::Receiver<Answer>,
    ) -> Self {
        Self {
            queue,
            id,
            number,
            receiver,
        }
    }

    /// The interjection's identifier.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The answer, once it is there; it can be taken once.
    pub(crate) fn take(&mut self) -> Option<Answer> {
        match self.receiver.try_recv() {
            Ok(answer) => Some(answer),
            Err(oneshot::error::TryRecvError::Empty) => None,
            Err(oneshot::error::TryRecvError::Closed) => Some(Err(withdrawn())),
        }
    }

    /// Stops waiting.
    pub(crate) fn withdraw(&self) {
        self.queue.withdraw(&self.id, self.number);
    }
}

impl Future for Ticket {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        Pin::new(&mut self.receiver)
            .poll(context)
            .map(|answer| answer.unwrap_or_else(|_| Err(withdrawn())))
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.withdraw();
    }
}

fn withdrawn() -> Error {
    Error::new(
        ErrorKind::AgentInterjection,
        "the interjection was withdrawn or its answer already taken",
    )
}
