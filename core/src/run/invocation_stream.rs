//! One invocation of an agent as a `Stream` of events, without a run around it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::{Run, RunResult, RunStream};
use crate::error::{Error, ErrorKind, Result};
use crate::event::StreamEvent;

/// The events of one invocation of an agent. Nothing happens before the first poll.
///
/// Dropping the stream before its end cancels the invocation.
#[derive(Debug)]
pub struct InvocationStream {
    stream: RunStream,
}

impl InvocationStream {
    pub(crate) fn new(stream: RunStream) -> Self {
        Self { stream }
    }

    /// What can be done to the invocation while it goes on: cancel it, say something to its agent.
    #[must_use]
    pub fn run(&self) -> Run {
        self.stream.run()
    }

    /// Reads the rest of the events and returns the result.
    ///
    /// # Errors
    /// Whatever kept the agent from its result.
    pub async fn finish(self) -> Result<Arc<RunResult>> {
        let run = self.stream.finish().await?;
        run.result()
            .ok_or_else(|| Error::new(ErrorKind::Error, "the agent ended without a result"))
    }
}

impl Stream for InvocationStream {
    type Item = StreamEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<StreamEvent>> {
        Pin::new(&mut self.stream).poll_next(context)
    }
}
