//! Workflows whose body is user code of the host.
//!
//! The body runs in a `perform` call of the host. What it prepares and reads meanwhile goes through
//! [`HostRun::invoke`](super::HostRun::invoke) and [`HostRun::settle`](super::HostRun::settle); the answer of
//! the call names the final invocation.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::assembly::{Reader, message};
use super::channel::{HostCallKind, HostChannel};
use super::current;
use super::door::Door;
use super::participant::HostParticipant;
use crate::assembly::{Participant, WorkflowBody, WorkflowContext, WorkflowInvocation, too_late};
use crate::error::{Error, ErrorKind, Result};
use crate::executor;
use crate::message::Message;

/// Bodies at work, by the part of the run that they answer.
#[derive(Default)]
pub(super) struct Works(Mutex<HashMap<u64, Arc<Work>>>);

/// One body at work.
struct Work {
    context: WorkflowContext,
    invocations: Mutex<HashMap<u64, WorkflowInvocation>>,
    next: AtomicU64,
    /// Cancelled when the body is over, whatever it still waited for.
    over: CancellationToken,
    /// How many settlements are under way.
    busy: watch::Sender<usize>,
}

/// The body of a workflow of the host.
pub(super) struct HostBody {
    pub(super) channel: Arc<HostChannel>,
    pub(super) participant: HostParticipant,
    /// Whether the host can end the body at any point where it waits.
    pub(super) can_be_dropped: bool,
}

#[async_trait]
impl WorkflowBody for HostBody {
    async fn perform(&self, workflow: &WorkflowContext) -> Result<WorkflowInvocation> {
        let part = workflow.part();
        let scope = part.place.scope;
        let work = Arc::new(Work {
            context: workflow.clone(),
            invocations: Mutex::default(),
            next: AtomicU64::new(1),
            over: CancellationToken::new(),
            busy: watch::channel(0).0,
        });
        self.channel.works.0.lock().insert(scope, Arc::clone(&work));
        HostParticipant::close_with(&self.channel, part)?;
        let payload = self.participant.opening(part);
        let door = Door::new(&self.channel, scope);
        let call = door.call(HostCallKind::Perform, payload);
        let answer = tokio::select! {
            answer = call => answer,
            error = too_late(workflow), if self.can_be_dropped => Err(error),
        };
        work.over.cancel();
        // What the body left behind ends before its part does.
        let _ = work.busy.subscribe().wait_for(|busy| *busy == 0).await;
        self.channel.works.0.lock().remove(&scope);
        let ticket = answer?;
        self.channel.parts.opened(scope);
        ticket
            .as_u64()
            .and_then(|ticket| work.invocations.lock().remove(&ticket))
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::Protocol,
                    "perform must return its final invocation, and must not have read its output",
                )
            })
    }
}

impl HostChannel {
    /// Prepares an invocation for the body that answers `scope`:
    /// `{participant, name?, message?, history?, context?, policy?}`.
    pub(super) fn invoke(self: &Arc<Self>, scope: u64, call: &Value) -> Result<u64> {
        let work = self.work(scope)?;
        let reader = Reader::new(self);
        let given = |key: &str| call.get(key).filter(|value| !value.is_null());
        let participant = reader.assembly(given("participant").unwrap_or(&Value::Null))?;
        let mut invocation = work.context.invoke(Participant(participant));
        if let Some(name) = given("name").and_then(Value::as_str) {
            invocation = invocation.named(name);
        }
        if let Some(input) = given("message") {
            invocation = invocation.input(message(input)?);
        }
        if let Some(Value::Array(history)) = given("history") {
            let history = history.iter().map(Message::from_value);
            invocation = invocation.history(history.collect::<Result<_>>()?);
        }
        if let Some(Value::Object(context)) = given("context") {
            invocation = invocation.context(context.clone());
        }
        invocation = invocation.policy(reader.policy(given("policy"))?);
        let ticket = work.next.fetch_add(1, Ordering::Relaxed);
        work.invocations.lock().insert(ticket, invocation);
        Ok(ticket)
    }

    /// Makes the calls of these tickets, at most `max_concurrency` at once. A `settled` call brings their outputs,
    /// or the first failure.
    pub(super) fn settle(
        self: &Arc<Self>,
        scope: u64,
        tickets: &[u64],
        max_concurrency: usize,
    ) -> Result<u64> {
        let work = self.work(scope)?;
        let taken: Vec<WorkflowInvocation> = {
            let mut invocations = work.invocations.lock();
            if tickets
                .iter()
                .any(|ticket| !invocations.contains_key(ticket))
            {
                return Err(Error::new(
                    ErrorKind::Protocol,
                    "the output of this invocation was read already",
                ));
            }
            tickets
                .iter()
                .filter_map(|ticket| invocations.remove(ticket))
                .collect()
        };
        let id = work.next.fetch_add(1, Ordering::Relaxed);
        work.busy.send_modify(|busy| *busy += 1);
        let channel = Arc::clone(self);
        let settling = async move {
            let results = work
                .context
                .parallel_beside(taken, max_concurrency, &work.over)
                .await;
            let payload = match results {
                Ok(results) => json!({
                    "settled": id,
                    "outputs": results.iter().map(|result| result.output()).collect::<Vec<_>>(),
                    "scopes": results.iter().map(|result| result.scope).collect::<Vec<_>>(),
                }),
                Err(error) => json!({"settled": id, "error": error.to_value()}),
            };
            if !work.over.is_cancelled() {
                let door = Door::new(&channel, scope);
                let _ = door.call(HostCallKind::Settled, payload).await;
            }
            work.busy.send_modify(|busy| *busy -= 1);
        };
        executor::spawn_own(current::scope(Arc::clone(self), settling))?;
        Ok(id)
    }

    fn work(&self, scope: u64) -> Result<Arc<Work>> {
        let works = self.works.0.lock();
        works.get(&scope).map(Arc::clone).ok_or_else(|| {
            Error::new(
                ErrorKind::Error,
                "this workflow is not at work; invoke participants within its perform",
            )
        })
    }
}

impl std::fmt::Debug for Works {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Works")
    }
}
