//! A run in the background, for callers that go on meanwhile.

use futures_util::StreamExt;
use tokio::sync::watch;

use super::{Run, RunStream};
use crate::agent::{Interjection, InterjectionResponse};
use crate::deadline::Deadline;
use crate::error::{Error, ErrorKind, Result};
use crate::event::StreamEvent;
use crate::executor;

/// A run in the background. Dropping it leaves the run at work.
///
/// ```no_run
/// use std::time::Duration;
/// use little_ghost::{Agent, Deadline};
///
/// # async fn example(agent: Agent) -> little_ghost::Result<()> {
/// let execution = agent.start_execution("Investigate transfer 481", |event| {
///     println!("{}", event.kind());
/// })?;
/// execution.interject("Include the latest ledger entry").await?;
/// let run = execution.wait(Some(Deadline::after(Duration::from_secs(30)))).await?;
/// println!("{}", run.response());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Execution {
    run: Run,
    ended: watch::Receiver<Option<Result<()>>>,
}

impl Execution {
    pub(crate) fn start(
        mut stream: RunStream,
        mut on_event: impl FnMut(StreamEvent) + Send + 'static,
    ) -> Result<Self> {
        let run = stream.run();
        let (end, ended) = watch::channel(None);
        executor::spawn(async move {
            while let Some(event) = stream.next().await {
                on_event(event);
            }
            let ending = stream.finish().await.map(drop);
            end.send_replace(Some(ending));
        })?;
        Ok(Self { run, ended })
    }

    /// The run.
    #[must_use]
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Whether the run is over, its resources closed and its events delivered.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.ended.borrow().is_some() || self.ended.has_changed().is_err()
    }

    /// Waits for the end of the run; without a deadline as long as it takes.
    ///
    /// # Errors
    /// [`ErrorKind::DeadlineExceeded`] at the deadline, which leaves the run at work; a failure to
    /// close a resource; [`ErrorKind::Error`] when the function that gets the events panicked. Any other failure
    /// is on the run.
    pub async fn wait(&self, deadline: Option<Deadline>) -> Result<Run> {
        let mut ended = self.ended.clone();
        let end = async {
            match ended.wait_for(Option::is_some).await {
                Ok(ending) => ending.clone().unwrap_or(Ok(())),
                Err(_) => Err(Error::new(
                    ErrorKind::Error,
                    "the run's events are delivered no more: the function that gets them panicked, or the tokio runtime has shut down",
                )),
            }
        };
        let ending = match deadline {
            None => end.await,
            Some(deadline) => tokio::time::timeout_at(deadline.instant(), end)
                .await
                .unwrap_or_else(|_| Err(Error::deadline_exceeded())),
        };
        ending.map(|()| self.run.clone())
    }

    /// Says something to the agent at work; see [`Run::interject`].
    ///
    /// # Errors
    /// As [`Run::interject`].
    pub async fn interject(
        &self,
        interjection: impl Into<Interjection>,
    ) -> Result<InterjectionResponse> {
        self.run.interject(interjection).await
    }

    /// Asks the run to stop.
    pub fn cancel(&self) {
        self.run.cancel();
    }

    /// Asks the run to stop and waits for its end, as [`Execution::wait`].
    ///
    /// # Errors
    /// As [`Execution::wait`].
    pub async fn close(&self, deadline: Option<Deadline>) -> Result<Run> {
        self.cancel();
        self.wait(deadline).await
    }
}
