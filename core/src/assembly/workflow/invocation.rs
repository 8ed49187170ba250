//! One call of a participant by a workflow.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::assembly::{Composite, Participant, StepPlan, StepPolicy, StepResult, check_name};
use crate::error::{Error, Result};
use crate::message::Message;
use crate::run::{Audience, RunResult};

/// A call of a participant that is prepared, but not made before its answer is asked for.
#[must_use = "nothing is sent before the output is asked for, or the invocation returned"]
pub struct WorkflowInvocation {
    composite: Arc<Composite>,
    participant: Participant,
    name: Option<String>,
    message: Option<Message>,
    history: Option<Vec<Message>>,
    context: Option<Map<String, Value>>,
    policy: StepPolicy,
}

impl WorkflowInvocation {
    pub(super) fn new(composite: Arc<Composite>, participant: Participant) -> Self {
        Self {
            composite,
            participant,
            name: None,
            message: None,
            history: None,
            context: None,
            policy: StepPolicy::default(),
        }
    }

    /// Names the participant in steps and telemetry; by default it is its identifier.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Asks this instead of the workflow's own request.
    pub fn input(mut self, message: impl Into<Message>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Gives this history instead of the workflow's.
    pub fn history(mut self, history: Vec<Message>) -> Self {
        self.history = Some(history);
        self
    }

    /// Gives this context instead of the workflow's.
    pub fn context(mut self, context: Map<String, Value>) -> Self {
        self.context = Some(context);
        self
    }

    /// How long it may take and how often it is tried.
    pub fn policy(mut self, policy: StepPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// The answer: the structured value when there is one, else the text.
    ///
    /// # Errors
    /// What kept the participant from an answer.
    pub async fn output(self) -> Result<Value> {
        Ok(self.result().await?.output())
    }

    /// The text of the answer.
    ///
    /// # Errors
    /// As [`output`](Self::output).
    pub async fn text(self) -> Result<String> {
        Ok(self.result().await?.text())
    }

    /// The complete result.
    ///
    /// # Errors
    /// As [`output`](Self::output).
    pub async fn result(self) -> Result<Arc<RunResult>> {
        let done = self.run(Audience::Coordination, CancellationToken::new());
        Ok(done.await?.result)
    }

    /// Whether `composite` prepared it.
    pub(super) fn belongs_to(&self, composite: &Arc<Composite>) -> bool {
        Arc::ptr_eq(&self.composite, composite)
    }

    pub(crate) async fn run_beside(self, beside: CancellationToken) -> Result<Arc<RunResult>> {
        if beside.is_cancelled() {
            return Err(Error::cancelled());
        }
        let done = self.run(Audience::Coordination, beside).await?;
        Ok(done.result)
    }

    /// The answer of the whole workflow: it streams to the caller.
    pub(super) async fn run_last(self) -> Result<StepResult> {
        self.run(Audience::Answer, CancellationToken::new()).await
    }

    async fn run(self, audience: Audience, beside: CancellationToken) -> Result<StepResult> {
        let part = &self.composite.part;
        let participant: Arc<str> = match self.name {
            Some(name) => name.into(),
            None => Arc::clone(self.participant.0.id()),
        };
        check_name("the name of a participant of a workflow", &participant)?;
        let plan = StepPlan {
            participant,
            target: self.participant.0,
            policy: self.policy,
            message: self
                .message
                .unwrap_or_else(|| part.invocation.message().clone()),
            history: self.history.unwrap_or_else(|| part.history()),
            context: self
                .context
                .unwrap_or_else(|| part.with_state(|state| state.clone())),
            audience,
            branch_id: None,
            number: None,
            predecessors: self.composite.recorder.latest().into_iter().collect(),
            beside,
            output: None,
        };
        Ok(self.composite.run(plan).await?)
    }
}

impl fmt::Debug for WorkflowInvocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("WorkflowInvocation")
            .field("participant", &self.participant)
            .finish_non_exhaustive()
    }
}
