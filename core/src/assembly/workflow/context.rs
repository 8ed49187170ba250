//! What the body of a workflow works with.

use std::pin::pin;
use std::sync::Arc;

use futures_util::stream::{self, StreamExt};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::WorkflowInvocation;
use crate::assembly::{Composite, Participant};
use crate::deadline::Deadline;
use crate::error::{Error, ErrorKind, Result};
use crate::message::Message;
use crate::run::{RunCore, RunResult};

/// What the body of a [`Workflow`](super::Workflow) works with: its request, and ways to invoke others.
#[derive(Clone)]
pub struct WorkflowContext {
    pub(super) composite: Arc<Composite>,
}

impl WorkflowContext {
    pub(super) fn new(composite: Arc<Composite>) -> Self {
        Self { composite }
    }

    pub(crate) fn part(&self) -> &Arc<RunCore> {
        &self.composite.part
    }

    /// The request.
    #[must_use]
    pub fn input(&self) -> &Message {
        self.part().invocation.message()
    }

    /// Messages that precede the request.
    #[must_use]
    pub fn history(&self) -> Vec<Message> {
        self.part().history()
    }

    /// What the application knows about the request. Each participant gets a copy.
    #[must_use]
    pub fn context(&self) -> Map<String, Value> {
        self.part().with_state(|state| state.clone())
    }

    /// Cancelled with the run.
    #[must_use]
    pub fn cancellation_token(&self) -> &CancellationToken {
        &self.part().work
    }

    /// When the work must end.
    #[must_use]
    pub fn deadline(&self) -> Option<Deadline> {
        self.part().invocation.deadline()
    }

    /// Prepares a call of `participant`. Nothing is sent before its answer is asked for, or it is returned
    /// as the final one.
    pub fn invoke(&self, participant: impl Into<Participant>) -> WorkflowInvocation {
        WorkflowInvocation::new(Arc::clone(&self.composite), participant.into())
    }

    /// The outputs of `invocations`, in their order, at most `max_concurrency` of which are at work at once.
    /// The first failure cancels the others.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] without invocations or with no concurrency; the first failure.
    pub async fn parallel(
        &self,
        invocations: impl IntoIterator<Item = WorkflowInvocation>,
        max_concurrency: usize,
    ) -> Result<Vec<Value>> {
        let siblings = CancellationToken::new();
        let invocations = invocations.into_iter().collect();
        let results = self
            .parallel_beside(invocations, max_concurrency, &siblings)
            .await?;
        Ok(results.iter().map(|result| result.output()).collect())
    }

    /// As [`parallel`](Self::parallel); all end when `siblings` is cancelled.
    pub(crate) async fn parallel_beside(
        &self,
        invocations: Vec<WorkflowInvocation>,
        max_concurrency: usize,
        siblings: &CancellationToken,
    ) -> Result<Vec<Arc<RunResult>>> {
        if invocations.is_empty() || max_concurrency == 0 {
            return Err(Error::new(
                ErrorKind::Argument,
                "parallel needs at least one invocation and a max_concurrency of at least 1",
            ));
        }
        let siblings = siblings.child_token();
        let running = invocations.into_iter().enumerate().map(|(place, one)| {
            let siblings = siblings.clone();
            async move { (place, one.run_beside(siblings).await) }
        });
        let mut results = pin!(stream::iter(running).buffer_unordered(max_concurrency));
        // Every participant ends by itself, so that what it holds is closed.
        let mut failure = None;
        let mut ended = Vec::new();
        while let Some((place, result)) = results.next().await {
            match result {
                Ok(result) => ended.push((place, result)),
                Err(error) => {
                    siblings.cancel();
                    failure.get_or_insert(error);
                }
            }
        }
        ended.sort_by_key(|(place, _)| *place);
        let results = ended.into_iter().map(|(_, result)| result).collect();
        failure.map_or(Ok(results), Err)
    }
}
