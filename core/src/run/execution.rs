//! The life of a run: open, work, close, exactly one ending.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::FutureExt;

use super::core::{Interruption, RunCore};
use super::outcome::{Ending, Outcome, caller_message};
use super::{Item, RunResult};
use crate::agent::{self, AgentInput, PreparedAgent};
use crate::error::{Error, ErrorKind, Result};
use crate::event::StreamEvent;
use crate::session::Session;

/// Builds the agent that answers a run, once the run has started.
#[async_trait]
pub(crate) trait Entrypoint: Send + Sync {
    async fn open(&self, run: &Arc<RunCore>) -> Result<PreparedAgent>;
}

/// Executes `run` to its end. Never fails: every failure becomes the run's ending.
pub(crate) async fn execute(run: Arc<RunCore>, entrypoint: Arc<dyn Entrypoint>) {
    let worked = AssertUnwindSafe(work(&run, &*entrypoint))
        .catch_unwind()
        .await;
    let outcome = worked.unwrap_or_else(|_| {
        Err(Error::new(
            ErrorKind::Error,
            "the engine failed unexpectedly; this is a bug in it",
        ))
    });
    finish(&run, outcome).await;
    run.outbox.push(Item::Done);
}

async fn work(run: &Arc<RunCore>, entrypoint: &dyn Entrypoint) -> Result<Arc<RunResult>> {
    let events = run.events();
    events
        .send(StreamEvent::RunStart {
            run_id: run.invocation.run_id().to_owned(),
            thread_id: run.invocation.session_id().to_owned(),
        })
        .await;
    let agent = Arc::new(entrypoint.open(run).await?);
    let Some(session) = run.session() else {
        return invoke(run, agent).await;
    };
    let guard = prepare(run, &agent, session.synchronize()).await?;
    let result = converse(run, agent, &session).await;
    let left = run.leave(guard).await;
    let result = result?;
    left.map(|()| result)
}

async fn converse(
    run: &Arc<RunCore>,
    agent: Arc<PreparedAgent>,
    session: &Session,
) -> Result<Arc<RunResult>> {
    prepare(run, &agent, run.restore(session)).await?;
    let result = invoke(run, agent).await?;
    // Not bounded: what is finished is not given up for a deadline.
    run.last_checkpoint(&result.messages).await?;
    Ok(result)
}

async fn invoke(run: &Arc<RunCore>, agent: Arc<PreparedAgent>) -> Result<Arc<RunResult>> {
    let input = AgentInput {
        history: run.history(),
        message: Some(run.invocation.message().clone()),
        settings: run.invocation.settings().clone(),
        parent_operation_id: None,
    };
    agent::invoke(run, agent, input).await
}

/// Work before the agent begins. A store that fails is no failure of the agent; the end of the
/// time is told as everywhere.
async fn prepare<T>(
    run: &Arc<RunCore>,
    agent: &PreparedAgent,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    let prepared = run.bounded(work).await;
    if let Err(error) = &prepared
        && (error.is(ErrorKind::Cancelled) || error.is(ErrorKind::DeadlineExceeded))
    {
        let event = StreamEvent::InvocationError {
            error: error.clone(),
            usage: run.usage(),
            metadata: agent.metadata(),
        };
        run.events().send(event).await;
    }
    prepared
}

async fn finish(run: &Arc<RunCore>, outcome: Result<Arc<RunResult>>) {
    // Text first: closing may take its time, and the partial answer is what there is now.
    let text_so_far = run.outbox.text_so_far();
    let cleanup = run.resources.close().await;
    let mut ending = settle(run, outcome, text_so_far);
    if let Some(error) = cleanup {
        ending.outcome = Some(Outcome::Failed);
        ending.response = String::new();
        ending.result = run.kept_result();
        ending.error = Some(error.clone());
        ending.raise = Some(error);
    }
    let event = terminal_event(&ending);
    run.end(ending);
    if let Some(event) = event {
        run.events().send(event).await;
    }
}

fn settle(run: &RunCore, outcome: Result<Arc<RunResult>>, text_so_far: String) -> Ending {
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
        Ok(result) => Ending {
            outcome: Some(Outcome::Completed),
            response: result.text(),
            result: Some(result),
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

fn terminal_event(ending: &Ending) -> Option<StreamEvent> {
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
            message: caller_message(&error),
            cleanup_failed: ending.raise.is_some() || error.is(ErrorKind::Cleanup),
            error,
        }),
        (_, None) => None,
    }
}
