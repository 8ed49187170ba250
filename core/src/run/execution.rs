//! The life of a run: open, work, close, exactly one ending.

use std::borrow::Cow;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::FutureExt;
use serde_json::{Map, Value, json};

use super::core::{Interruption, RunCore};
use super::outcome::{Ending, Outcome, caller_message};
use super::{Declared, Item, Operation, RunResult, Scope, failure, with_usage};
use crate::agent::{self, AgentInput, PreparedAgent};
use crate::assembly::{self, Assembly};
use crate::error::{Error, ErrorKind, Result};
use crate::event::StreamEvent;
use crate::message::Message;
use crate::model::{Model, ModelRequest, ModelResponse};
use crate::panics::caught;
use crate::session::Session;

/// Builds what answers a run, once the run has started.
#[async_trait]
pub(crate) trait Entrypoint: Send + Sync {
    /// What answers.
    async fn open(&self, run: &Arc<RunCore>) -> Result<Opened>;

    /// The state of a part that an agent has answered.
    async fn final_state(&self, part: &Arc<RunCore>) -> Result<Map<String, Value>> {
        Ok(part.with_state(|state| state.clone()))
    }

    /// The identifier of the agent, where it is known before.
    fn agent_id(&self) -> Option<&str> {
        None
    }

    /// What it says about the workspace and the sandbox of its runs.
    fn premises(&self) -> Option<&Declared> {
        None
    }

    /// The model and its one request, for [`Scope::Model`].
    async fn open_model(&self, _run: &Arc<RunCore>) -> Result<(Arc<dyn Model>, ModelRequest)> {
        Err(Error::new(
            ErrorKind::Error,
            "an agent answers whole invocations, not single model requests",
        ))
    }
}

/// What answers a run, or a part of one.
pub(crate) enum Opened {
    /// An agent, ready for it.
    Agent(Box<PreparedAgent>),
    /// What coordinates others.
    Assembly(Arc<dyn Assembly>),
}

/// What came of the work.
#[derive(Default)]
struct Product {
    result: Option<Arc<RunResult>>,
    model_response: Option<Arc<ModelResponse>>,
}

/// Executes `run` to its end. Never fails: every failure becomes the run's ending.
pub(crate) async fn execute(run: Arc<RunCore>, entrypoint: Arc<dyn Entrypoint>, scope: Scope) {
    if let Some(id) = entrypoint.agent_id() {
        run.identify_agent(id);
    }
    let operation = (scope == Scope::Run).then(|| start_operation(&run));
    let worked = AssertUnwindSafe(work(&run, &*entrypoint, scope))
        .catch_unwind()
        .await;
    let outcome = worked.unwrap_or_else(|_| {
        Err(Error::new(
            ErrorKind::Error,
            "the engine failed unexpectedly; this is a bug in it",
        ))
    });
    finish(&run, outcome, scope).await;
    if let Some(operation) = operation {
        finish_operation(&run, operation);
    }
    run.outbox.push(Item::Done);
}

fn start_operation(run: &RunCore) -> Operation {
    if !run.outbox.is_instrumented() {
        return Operation::unmeasured();
    }
    let id: Arc<str> = run.operation_id.as_str().into();
    let mut attributes = run.outbox.measurements.of_run();
    // The host's operation that the run is a part of.
    let parent = attributes.shift_remove("parent_operation_id");
    let parent: Option<Arc<str>> = parent.as_ref().and_then(Value::as_str).map(Into::into);
    Operation::start(&run.outbox, "run", &id, parent.as_ref(), || {
        let input = run.invocation.message().to_value();
        attributes.insert("diagnostic".into(), json!({"input": input}));
        Value::Object(attributes)
    })
}

fn finish_operation(run: &RunCore, operation: Operation) {
    let ending = run.ending();
    operation.finish(|| {
        let mut attributes = match &ending.error {
            None => json!({"diagnostic": {"output": ending.response}}),
            Some(error) => failure(error),
        };
        if let Some(attributes) = attributes.as_object_mut() {
            let outcome = ending.outcome.map(Outcome::as_str);
            attributes.insert("outcome".into(), json!(outcome));
        }
        with_usage(attributes, run.usage())
    });
}

async fn work(run: &Arc<RunCore>, entrypoint: &dyn Entrypoint, scope: Scope) -> Result<Product> {
    if scope == Scope::Model {
        let response = run.bounded(ask_model(run, entrypoint)).await?;
        return Ok(Product {
            model_response: Some(response),
            ..Product::default()
        });
    }
    if scope == Scope::Run {
        run.events()
            .send(StreamEvent::RunStart {
                run_id: run.invocation.run_id().to_owned(),
                thread_id: run.invocation.session_id().to_owned(),
            })
            .await;
    }
    let premises = match entrypoint.premises() {
        Some(own) => own.or(run.runtime.premises()),
        None => run.runtime.premises().clone(),
    };
    if !premises.is_empty() {
        run.bounded(run.open_premises(&premises)).await?;
    }
    let answering = match entrypoint.open(run).await? {
        Opened::Agent(agent) => {
            run.warn_of_unknown(&*agent.model);
            run.identify_agent(&agent.id);
            Answering::Agent(Arc::from(agent))
        }
        Opened::Assembly(assembly) => {
            run.identify_assembly(&*assembly);
            Answering::Assembly(assembly)
        }
    };
    let result = match run.session() {
        None => answering.answer(run, scope).await?,
        Some(session) => {
            let guard = prepare(run, &answering, session.synchronize()).await?;
            let result = converse(run, &answering, &session, scope).await;
            let left = run.leave(guard).await;
            let result = result?;
            left?;
            result
        }
    };
    Ok(Product {
        result: Some(result),
        ..Product::default()
    })
}

async fn converse(
    run: &Arc<RunCore>,
    answering: &Answering,
    session: &Session,
    scope: Scope,
) -> Result<Arc<RunResult>> {
    prepare(run, answering, run.restore(session)).await?;
    let result = answering.answer(run, scope).await?;
    // Not bounded: what is finished is not given up for a deadline.
    run.last_checkpoint(&answering.conversation(run, &result))
        .await?;
    Ok(result)
}

/// What answers the run.
enum Answering {
    Agent(Arc<PreparedAgent>),
    Assembly(Arc<dyn Assembly>),
}

impl Answering {
    fn metadata(&self) -> Arc<Map<String, Value>> {
        match self {
            Answering::Agent(agent) => agent.metadata(),
            Answering::Assembly(_) => Arc::default(),
        }
    }

    async fn answer(&self, run: &Arc<RunCore>, scope: Scope) -> Result<Arc<RunResult>> {
        match self {
            Answering::Agent(agent) => invoke(run, Arc::clone(agent), scope).await,
            Answering::Assembly(assembly) => {
                let operation = run.operation_id.as_str().into();
                let result = assembly::answer(assembly, run, &operation).await?;
                run.keep_result(Arc::clone(&result));
                Ok(result)
            }
        }
    }

    /// What the session keeps: of an assembly the public answer, not what its participants said among
    /// themselves.
    fn conversation<'a>(&self, run: &RunCore, result: &'a RunResult) -> Cow<'a, [Message]> {
        match self {
            Answering::Agent(_) => Cow::Borrowed(&result.messages),
            Answering::Assembly(_) => {
                let mut messages = run.history();
                messages.push(run.invocation.message().clone());
                messages.extend(result.message.clone());
                Cow::Owned(messages)
            }
        }
    }
}

async fn invoke(
    run: &Arc<RunCore>,
    agent: Arc<PreparedAgent>,
    scope: Scope,
) -> Result<Arc<RunResult>> {
    let message = run.invocation.message();
    let input = AgentInput {
        history: run.history(),
        message: (!message.is_blank()).then(|| message.clone()),
        settings: run.invocation.settings().clone(),
        // Without a run around it, the agent is a part of what the host says.
        parent_operation_id: (scope == Scope::Agent)
            .then(|| run.outbox.measurements.parent_of_run())
            .flatten(),
    };
    agent::invoke(run, agent, input).await
}

/// Work before the agent begins. A store that fails is no failure of the agent; the end of the
/// time is told as everywhere.
async fn prepare<T>(
    run: &Arc<RunCore>,
    answering: &Answering,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    let prepared = run.bounded(work).await;
    if let Err(error) = &prepared
        && (error.is(ErrorKind::Cancelled) || error.is(ErrorKind::DeadlineExceeded))
    {
        let event = StreamEvent::InvocationError {
            error: error.clone(),
            usage: run.usage(),
            metadata: answering.metadata(),
        };
        run.events().send(event).await;
    }
    prepared
}

async fn ask_model(run: &Arc<RunCore>, entrypoint: &dyn Entrypoint) -> Result<Arc<ModelResponse>> {
    let (model, request) = entrypoint.open_model(run).await?;
    let events = run.events();
    let response = caught("the model", model.stream(&request, &events)).await?;
    let response = Arc::new(response);
    events
        .send(StreamEvent::MessageStop {
            response: Arc::clone(&response),
        })
        .await;
    Ok(response)
}

async fn finish(run: &Arc<RunCore>, outcome: Result<Product>, scope: Scope) {
    // Text first: closing may take its time, and the partial answer is what there is now.
    let text_so_far = run.outbox.text_so_far();
    let cleanup = run.resources.close().await;
    let mut ending = settle(run, outcome, text_so_far);
    if scope != Scope::Run {
        // There is no run that could record the failure.
        ending.raise = ending.raise.or_else(|| ending.error.clone());
    }
    if let Some(error) = cleanup {
        ending.outcome = Some(Outcome::Failed);
        ending.response = String::new();
        ending.result = run.kept_result();
        ending.error = Some(error.clone());
        ending.raise = Some(error);
    }
    let event = match scope {
        Scope::Run => terminal_event(run, &ending).await,
        Scope::Agent | Scope::Model => None,
    };
    run.end(ending);
    if let Some(event) = event {
        run.events().send(event).await;
    }
}

fn settle(run: &RunCore, outcome: Result<Product>, text_so_far: String) -> Ending {
    if let Some(Interruption::Failed(error)) = run.interruption() {
        return Ending {
            outcome: Some(Outcome::Failed),
            result: run.kept_result(),
            error: Some(error.clone()),
            raise: Some(error),
            ..Ending::default()
        };
    }
    match outcome {
        Ok(product) => Ending {
            outcome: Some(Outcome::Completed),
            response: product
                .result
                .as_ref()
                .map(|result| result.text())
                .unwrap_or_default(),
            result: product.result,
            model_response: product.model_response,
            ..Ending::default()
        },
        Err(error) => match error.kind() {
            ErrorKind::DeadlineExceeded => Ending {
                outcome: Some(Outcome::Partial),
                response: text_so_far,
                error: Some(error),
                ..Ending::default()
            },
            ErrorKind::Cancelled => Ending {
                outcome: Some(Outcome::Cancelled),
                error: Some(error),
                ..Ending::default()
            },
            _ => Ending {
                outcome: Some(Outcome::Failed),
                result: run.kept_result(),
                error: Some(error),
                ..Ending::default()
            },
        },
    }
}

async fn terminal_event(run: &RunCore, ending: &Ending) -> Option<StreamEvent> {
    let error = ending.error.clone();
    match (ending.outcome?, error) {
        (Outcome::Completed, _) => ending.result.clone().map(|result| StreamEvent::RunStop {
            response: ending.response.clone(),
            result,
        }),
        (Outcome::Partial, Some(error)) => Some(StreamEvent::RunPartial {
            response: ending.response.clone(),
            error,
        }),
        (Outcome::Cancelled, Some(error)) => Some(StreamEvent::RunCancel { error }),
        (Outcome::Failed, Some(error)) => Some(StreamEvent::RunError {
            message: message_for_caller(run, &error).await,
            cleanup_failed: ending.raise.is_some() || error.is(ErrorKind::Cleanup),
            error,
        }),
        (_, None) => None,
    }
}

/// The application's own text about the failure, else the engine's. A hook that fails must not
/// hide the failure that it was asked about.
async fn message_for_caller(run: &RunCore, error: &Error) -> String {
    let own = match run.hooks() {
        Some(hooks) => hooks.error_message(error).await.ok().flatten(),
        None => None,
    };
    own.unwrap_or_else(|| caller_message(error))
}
