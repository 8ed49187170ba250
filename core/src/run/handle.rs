//! What callers and tools see of a run.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::core::RunCore;
use super::{Invocation, Outcome, Resource, RunResult};
use crate::agent::{Interjection, InterjectionResponse};
use crate::cost::Cost;
use crate::error::{Error, ErrorKind, Result};
use crate::message::Usage;
use crate::sandbox::Sandbox;
use crate::session::Session;
use crate::workspace::Workspace;

/// One top-level execution: its request, its outcome, its resources.
///
/// A handle: clones share the same run.
#[derive(Clone, Debug)]
pub struct Run {
    core: Arc<RunCore>,
}

impl Run {
    pub(crate) fn new(core: Arc<RunCore>) -> Self {
        Self { core }
    }

    /// The request.
    #[must_use]
    pub fn invocation(&self) -> &Invocation {
        &self.core.invocation
    }

    /// Unique identifier of this operation.
    #[must_use]
    pub fn operation_id(&self) -> &str {
        &self.core.operation_id
    }

    /// How the run ended; `None` while it goes on.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        self.core.root().ending().outcome
    }

    /// Whether the agent finished.
    #[must_use]
    pub fn is_completed(&self) -> bool {
        self.outcome() == Some(Outcome::Completed)
    }

    /// The final text, or the text so far when a deadline ended the run.
    #[must_use]
    pub fn response(&self) -> String {
        self.core.root().ending().response
    }

    /// The complete result, when the agent produced one.
    #[must_use]
    pub fn result(&self) -> Option<Arc<RunResult>> {
        self.core.root().ending().result
    }

    /// The structured result, read into `T`.
    ///
    /// ```no_run
    /// use little_ghost::Agent;
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Triage {
    ///     urgent: bool,
    /// }
    ///
    /// # async fn example() -> little_ghost::Result<()> {
    /// let agent = Agent::builder("triage").result::<Triage>().build()?;
    /// let run = agent.ask("My package is missing.").await?;
    /// let triage: Triage = run.output()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What kept the run from completing; [`StructuredResult`](ErrorKind::StructuredResult) when the
    /// agent has no result schema, or `T` does not take the value.
    pub fn output<T: DeserializeOwned>(&self) -> Result<T> {
        match self.clone().into_completed()?.result() {
            Some(result) => result.output_as(),
            None => Err(Error::new(ErrorKind::Error, "the run has no result")),
        }
    }

    /// What ended the run, unless it completed.
    #[must_use]
    pub fn error(&self) -> Option<Error> {
        self.core.root().ending().error
    }

    /// This run, or the error that kept it from completing.
    ///
    /// # Errors
    /// [`Run::error`] of a run that is failed, partial or cancelled.
    pub fn into_completed(self) -> Result<Self> {
        match self.core.root().ending() {
            ending if ending.outcome == Some(Outcome::Completed) => Ok(self),
            ending => Err(ending
                .error
                .unwrap_or_else(|| Error::new(ErrorKind::Error, "the run has not ended"))),
        }
    }

    /// Tokens used so far.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.core.root().usage()
    }

    /// What those tokens cost, by the prices that the catalog or the profile states for each model. Failed
    /// attempts cost too. `None` when a price that is needed is not known, or a provider did not say what
    /// it used.
    ///
    /// It is an estimate in exact arithmetic: discounts, tools of the provider, audio and the choice of a
    /// cache's lifetime are not in the catalog's prices.
    #[must_use]
    pub fn cost(&self) -> Option<Cost> {
        self.core.root().cost()
    }

    /// Reads or changes the shared state, which starts as the invocation's context. Nobody else gets at
    /// it meanwhile, so that `change` must be quick and must not come here again.
    pub fn with_state<T>(&self, change: impl FnOnce(&mut Map<String, Value>) -> T) -> T {
        self.core.with_state(change)
    }

    /// Cancelled when the run is.
    #[must_use]
    pub fn cancellation_token(&self) -> &CancellationToken {
        &self.core.root().token
    }

    pub(crate) fn work_token(&self) -> &CancellationToken {
        &self.core.work
    }

    /// The conversation that this run continues.
    #[must_use]
    pub fn session(&self) -> Option<Session> {
        self.core.root().session()
    }

    /// The workspace of the run, or of this part of it.
    #[must_use]
    pub fn workspace(&self) -> Option<Arc<Workspace>> {
        self.core.premises().workspace
    }

    /// The sandbox that tools and programs work in.
    #[must_use]
    pub fn sandbox(&self) -> Option<Arc<dyn Sandbox>> {
        self.core.premises().sandbox
    }

    /// Asks the run to stop; it then ends as cancelled.
    pub fn cancel(&self) {
        self.core.root().token.cancel();
    }

    /// Says something to the agent at work and waits for what it answers at once; its work may go
    /// on afterwards. Dropping the future before delivery withdraws the message.
    ///
    /// # Errors
    /// [`ErrorKind::AgentInterjection`] when no agent or more than one is at work, and when it ends
    /// first; [`ErrorKind::Argument`] for a message that cannot be delivered, or another one under a used id;
    /// [`ErrorKind::DeadlineExceeded`] at the interjection's deadline.
    pub async fn interject(
        &self,
        interjection: impl Into<Interjection>,
    ) -> Result<InterjectionResponse> {
        self.core.root().interject(interjection.into(), None)?.await
    }

    /// Has `resource` closed when the run ends, in reverse order of registration.
    ///
    /// # Errors
    /// [`ErrorKind::Error`] once the run is closed.
    pub fn register(&self, resource: impl Resource + 'static) -> Result<()> {
        self.core.root().resources.register(Box::new(resource))
    }

    pub(crate) fn raised(&self) -> Option<Error> {
        self.core.root().ending().raise
    }
}
