//! A run as a `Stream` of events, for Rust callers.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_util::StreamExt;

use super::core::{Interruption, RunCore};
use super::{Entrypoint, Item, Run, Scope, execute};
use crate::error::{Error, ErrorKind, Result};
use crate::event::StreamEvent;
use crate::executor;

/// The events of one run. Nothing happens before the first poll.
///
/// Dropping the stream before its end cancels the run: the upstream socket
/// closes, tools are dropped, resources are closed in the background.
pub struct RunStream {
    core: Arc<RunCore>,
    entrypoint: Option<Arc<dyn Entrypoint>>,
    scope: Scope,
    finished: bool,
}

impl RunStream {
    pub(crate) fn new(core: Arc<RunCore>, entrypoint: Arc<dyn Entrypoint>, scope: Scope) -> Self {
        Self {
            core,
            entrypoint: Some(entrypoint),
            scope,
            finished: false,
        }
    }

    /// The run behind this stream, usable while it goes on.
    #[must_use]
    pub fn run(&self) -> Run {
        Run::new(Arc::clone(&self.core))
    }

    /// Runs to the end without handing over events.
    pub(crate) async fn run_to_end(self) -> Result<Run> {
        self.core.outbox.mute();
        self.finish().await
    }

    /// Reads the rest of the events and returns the ended run.
    ///
    /// # Errors
    /// A failure to close a resource. Any other failure is on the run.
    pub async fn finish(mut self) -> Result<Run> {
        while self.next().await.is_some() {}
        let run = self.run();
        match run.raised() {
            Some(error) => Err(error),
            None => Ok(run),
        }
    }
}

impl Stream for RunStream {
    type Item = StreamEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<StreamEvent>> {
        if self.finished {
            return Poll::Ready(None);
        }
        if let Some(entrypoint) = self.entrypoint.take() {
            let started = self.core.begin().and_then(|()| {
                let work = Work(Some(Arc::clone(&self.core)));
                let (core, scope) = (Arc::clone(&self.core), self.scope);
                executor::spawn(async move {
                    execute(core, entrypoint, scope).await;
                    work.done();
                })
            });
            if let Err(error) = started {
                self.finished = true;
                self.core.fail_to_start(error);
                return Poll::Ready(None);
            }
        }
        loop {
            match self.core.outbox.poll_next(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Item::Event(event)) => return Poll::Ready(Some(event)),
                Poll::Ready(Item::Done) => {
                    self.finished = true;
                    return Poll::Ready(None);
                }
                Poll::Ready(_) => {}
            }
        }
    }
}

/// Tells the consumer when the task of a run is dropped with the tokio runtime that it was in.
struct Work(Option<Arc<RunCore>>);

impl Work {
    fn done(mut self) {
        self.0 = None;
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        if let Some(core) = self.0.take() {
            core.fail_to_start(Error::new(
                ErrorKind::Error,
                "the tokio runtime that the run was started in has shut down",
            ));
            core.outbox.push(Item::Done);
        }
    }
}

impl Drop for RunStream {
    fn drop(&mut self) {
        if !self.finished && self.entrypoint.is_none() {
            self.core.interrupt(Interruption::Abandoned);
        }
    }
}

impl std::fmt::Debug for RunStream {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("RunStream")
            .field("finished", &self.finished)
            .finish_non_exhaustive()
    }
}
