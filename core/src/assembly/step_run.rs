//! One step of an assembly: a participant answers, in as many attempts as its policy allows.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::event::StepFacts;
use super::{
    Assembly, AssemblyEvent, AssemblyKind, Attempt, Recorder, Step, StepPolicy, StepStatus,
};
use crate::deadline::Deadline;
use crate::error::{Error, ErrorKind, Result};
use crate::event::StreamEvent;
use crate::message::{Message, Usage};
use crate::prompt::PromptLocals;
use crate::run::{
    AgentStreamStep, Audience, Operation, Request, RunCore, RunResult, failure, with_usage,
};

/// One execution of an assembly that coordinates others.
pub(crate) struct Composite {
    /// What it answers.
    pub(crate) part: Arc<RunCore>,
    pub(crate) id: Arc<str>,
    pub(crate) kind: AssemblyKind,
    /// The operation that its steps are parts of.
    pub(crate) operation_id: Arc<str>,
    pub(crate) recorder: Recorder,
    /// Values for the prompts of its participants.
    pub(crate) locals: Arc<Map<String, Value>>,
}

/// What one participant is to do.
pub(crate) struct StepPlan {
    pub(crate) participant: Arc<str>,
    pub(crate) target: Arc<dyn Assembly>,
    pub(crate) policy: StepPolicy,
    pub(crate) message: Message,
    pub(crate) history: Vec<Message>,
    pub(crate) context: Map<String, Value>,
    pub(crate) audience: Audience,
    /// Of a graph.
    pub(crate) branch_id: Option<Arc<str>>,
    /// Of a swarm.
    pub(crate) number: Option<u32>,
    pub(crate) predecessors: Vec<Arc<str>>,
    /// Cancelled when the step is not wanted any more, because one beside it failed.
    pub(crate) beside: CancellationToken,
    /// What the step keeps as its output, if not the result's.
    pub(crate) output: Option<Arc<dyn Fn() -> Option<Value> + Send + Sync>>,
}

/// What came of a step.
pub(crate) struct StepResult {
    pub(crate) step: Step,
    pub(crate) result: Arc<RunResult>,
}

/// A step that failed, with its attempts.
pub(crate) struct FailedStep {
    pub(crate) step: Step,
    pub(crate) error: Error,
    /// Whether the consumer of the run has seen text of its last attempt.
    pub(crate) spoke: bool,
}

impl From<Box<FailedStep>> for Error {
    fn from(failed: Box<FailedStep>) -> Error {
        failed.error
    }
}

impl Composite {
    /// What `assembly` does for `part`, in the operation `parent`. `locals` are what it declares for its participants.
    ///
    /// # Errors
    /// What a function among `locals` fails with.
    pub(crate) fn new(
        assembly: &dyn Assembly,
        locals: &PromptLocals,
        part: &Arc<RunCore>,
        parent: &Arc<str>,
    ) -> Result<Self> {
        Ok(Self {
            locals: Arc::new(locals.resolve(part)?),
            part: Arc::clone(part),
            id: Arc::clone(assembly.id()),
            kind: assembly.kind(),
            operation_id: Arc::clone(parent),
            recorder: Recorder::default(),
        })
    }

    /// Announces what the assembly does.
    pub(crate) async fn tell(&self, event: AssemblyEvent) {
        match &event {
            AssemblyEvent::StepStart(_)
            | AssemblyEvent::StepStop { .. }
            | AssemblyEvent::StepError { .. } => {}
            point => self.part.outbox.notify(point.kind(), || {
                let mut data = point.data();
                if let Some(data) = data.as_object_mut() {
                    data.insert("operation_id".into(), json!(*self.operation_id));
                }
                data
            }),
        }
        let event = StreamEvent::Assembly(event);
        self.part.events().send(event).await;
    }

    /// Runs `plan` and records the step when it completes.
    pub(crate) async fn run(&self, plan: StepPlan) -> Result<StepResult, Box<FailedStep>> {
        let done = self.attempt(plan).await?;
        self.recorder.add(done.step.clone(), &done.result.steps);
        Ok(done)
    }

    async fn attempt(&self, plan: StepPlan) -> Result<StepResult, Box<FailedStep>> {
        let facts = self.facts(&plan);
        let mut step = Step {
            id: Arc::clone(&facts.step_id),
            parent_id: None,
            predecessor_ids: plan.predecessors.clone(),
            participant: Arc::clone(&plan.participant),
            assembly_id: Arc::clone(plan.target.id()),
            assembly_kind: plan.target.kind(),
            branch_id: plan.branch_id.clone(),
            status: StepStatus::Failed,
            attempts: Vec::new(),
            usage: Usage::default(),
            output: None,
            output_truncated: false,
        };
        self.tell(AssemblyEvent::StepStart(facts.clone())).await;
        let operation = self.measure(&facts);
        loop {
            let number = u32::try_from(step.attempts.len())
                .unwrap_or(u32::MAX)
                .saturating_add(1);
            let tried = self.try_once(&plan, &facts, number).await;
            step.usage += tried.attempt.usage;
            step.attempts.push(tried.attempt);
            match tried.outcome {
                Ok(result) => {
                    step.status = StepStatus::Completed;
                    let other = plan.output.as_ref().and_then(|output| output());
                    step.keep(other.unwrap_or_else(|| result.output()));
                    operation.finish(|| with_usage(json!({"outcome": "completed"}), step.usage));
                    let usage = step.usage;
                    self.tell(AssemblyEvent::StepStop { step: facts, usage })
                        .await;
                    return Ok(StepResult { step, result });
                }
                Err(error) => {
                    let spoke = tried.spoke;
                    let error = match self.go_on(&plan, &facts, number, &step, error, spoke).await {
                        None => continue,
                        Some(error) => error,
                    };
                    operation.finish(|| with_usage(failure(&error), step.usage));
                    return Err(Box::new(FailedStep { step, error, spoke }));
                }
            }
        }
    }

    /// Announces a failed attempt and waits for the next one; the error if there is none.
    async fn go_on(
        &self,
        plan: &StepPlan,
        facts: &StepFacts,
        attempt: u32,
        step: &Step,
        error: Error,
        partial_text: bool,
    ) -> Option<Error> {
        let (again, error) = match plan.policy.tries_again(attempt, &error).await {
            Ok(again) => (again, error),
            Err(problem) => (false, problem),
        };
        self.tell(AssemblyEvent::StepError {
            step_id: Arc::clone(&facts.step_id),
            participant: Arc::clone(&facts.participant),
            attempt,
            error_type: error.class_name().to_owned(),
            usage: step.usage,
            terminal: !again,
        })
        .await;
        if !again {
            return Some(error);
        }
        let delay = plan.policy.retry_delay;
        self.tell(AssemblyEvent::StepRetry {
            step_id: Arc::clone(&facts.step_id),
            participant: Arc::clone(&facts.participant),
            attempt,
            error_type: error.class_name().to_owned(),
            delay,
            partial_text,
        })
        .await;
        self.pause(delay).await.err()
    }

    async fn pause(&self, delay: Duration) -> Result<()> {
        self.part
            .bounded(async {
                tokio::time::sleep(delay).await;
                Ok(())
            })
            .await
    }

    async fn try_once(&self, plan: &StepPlan, facts: &StepFacts, number: u32) -> Tried {
        let limit = plan.policy.timeout.map(Deadline::after);
        let request = Request {
            message: plan.message.clone(),
            history: plan.history.clone(),
            context: plan.context.clone(),
            settings: self.part.invocation.settings().clone(),
            deadline: limit,
        };
        let place = self.part.place.with_locals(&self.locals).within(
            AgentStreamStep {
                assembly_id: Arc::clone(&facts.assembly_id),
                assembly_kind: facts.assembly_kind,
                branch_id: facts.branch_id.clone(),
                participant: Arc::clone(&facts.participant),
                step_id: Arc::clone(&facts.step_id),
            },
            plan.audience,
        );
        let part = self.part.part(request, place);
        let started_at = SystemTime::now();
        let answered = {
            let mut answering = pin!(super::answer(&plan.target, &part, &facts.step_id));
            tokio::select! {
                biased;
                answered = &mut answering => answered,
                () = plan.beside.cancelled() => {
                    part.token.cancel();
                    answering.await
                }
            }
        };
        let closed = part.resources.close().await;
        let mut outcome = answered.map_err(|error| self.timed(plan, limit, error));
        if let Some(problem) = closed {
            outcome = Err(problem);
        }
        let error = outcome.as_ref().err();
        Tried {
            attempt: Attempt {
                number,
                status: error.map_or(StepStatus::Completed, |_| StepStatus::Failed),
                started_at,
                finished_at: SystemTime::now(),
                usage: part.account.usage(),
                error: error.map(|error| error.class_name().to_owned()),
            },
            spoke: part.account.spoke(),
            outcome,
        }
    }

    /// The end of the step's own time is no end of the run's.
    fn timed(&self, plan: &StepPlan, limit: Option<Deadline>, error: Error) -> Error {
        let own = limit.is_some_and(|limit| limit.is_past());
        let whole = self.part.invocation.deadline();
        if !own
            || !error.is(ErrorKind::DeadlineExceeded)
            || whole.is_some_and(|whole| whole.is_past())
        {
            return error;
        }
        let seconds = plan.policy.timeout.unwrap_or_default().as_secs_f64();
        Error::new(
            ErrorKind::AssemblyStepTimeout,
            format!(
                "{} took longer than its timeout of {seconds} s",
                plan.participant
            ),
        )
    }

    fn facts(&self, plan: &StepPlan) -> StepFacts {
        StepFacts {
            assembly_id: Arc::clone(&self.id),
            assembly_kind: self.kind,
            participant: Arc::clone(&plan.participant),
            step_id: Uuid::new_v4().to_string().into(),
            step: plan.number,
            branch_id: plan.branch_id.clone(),
        }
    }

    fn measure(&self, facts: &StepFacts) -> Operation {
        let parent = Some(&self.operation_id);
        Operation::start(
            &self.part.outbox,
            "assembly_step",
            &facts.step_id,
            parent,
            || {
                json!({
                    "assembly_id": *facts.assembly_id, "assembly_kind": facts.assembly_kind.as_str(),
                    "participant": *facts.participant, "branch_id": facts.branch_id.as_deref(),
                })
            },
        )
    }
}

/// One attempt and what came of it.
struct Tried {
    attempt: Attempt,
    /// Whether the consumer of the run has seen text of it.
    spoke: bool,
    outcome: Result<Arc<RunResult>>,
}
