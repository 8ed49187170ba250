//! A run as a host drives it.

use std::collections::VecDeque;
use std::mem::ManuallyDrop;
use std::os::fd::RawFd;
use std::process;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::channel::{HostChannel, HostFailure};
use super::current;
use super::dormant::Dormant;
use super::entrypoint::{HostEntrypoint, HostResource};
use super::hooks::HostHooks;
use super::job::HostJob;
use super::model_event;
use super::session::{CalledStore, HostConversation, SessionOptions};
use super::signal::WakeSignal;
use super::start::HostStart;
use super::ticket::HostTicket;
use crate::agent::Interjection;
use crate::cost::Cost;
use crate::error::{Error, ErrorKind, Result};
use crate::executor;
use crate::message::Usage;
use crate::model::ModelResponse;
use crate::run::{Interruption, Invocation, Item, Outbox, RunCore, RunResult, Scope, execute};
use crate::runtime::Runtime;
use crate::session::{Session, SessionKey};

/// A run that a host drives: start it, wait for [`fd`](Self::fd), drain, answer, until
/// [`Item::Done`].
///
/// Dropping it cancels the run. In a forked child everything but dropping fails: the run's
/// task lives in the parent.
#[derive(Debug)]
pub struct HostRun {
    pid: u32,
    // Never dropped in a forked child, where a lock inside may be held by a thread that is gone.
    inner: ManuallyDrop<Inner>,
}

#[derive(Debug)]
struct Inner {
    core: Arc<RunCore>,
    channel: Arc<HostChannel>,
    signal: Arc<WakeSignal>,
    dormant: Dormant,
}

/// What is known of a run: complete once it ended.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct RunReport {
    /// `"completed"`, `"failed"`, `"partial"`, `"cancelled"`, or `None` while the run goes on.
    pub outcome: Option<&'static str>,
    /// The final text, or the text so far at a deadline.
    pub response: String,
    /// Tokens used.
    pub usage: Usage,
    /// What they cost, when that is known.
    pub cost: Option<Cost>,
    /// What ended the run, unless it completed.
    pub error: Option<Error>,
    /// The complete result, when there is one.
    pub result: Option<Arc<RunResult>>,
    /// The response of a single model request.
    pub model_response: Option<Arc<ModelResponse>>,
    /// What the host must raise, because no clean ending can be promised, or because there is no
    /// run that could record it.
    pub raise: Option<Error>,
}

impl HostRun {
    /// A dormant run of `invocation`, cancelled together with `token`.
    ///
    /// # Errors
    /// [`ErrorKind::Error`] when the process is out of threads or descriptors.
    pub fn new(
        runtime: Arc<Runtime>,
        invocation: Invocation,
        token: &CancellationToken,
    ) -> Result<Self> {
        let signal = Arc::new(open_signal("the run")?);
        let outbox = Outbox::for_host(Arc::clone(&signal));
        let channel = HostChannel::new(Arc::clone(&outbox));
        let core = RunCore::new(
            runtime,
            invocation,
            token.child_token(),
            executor::shutdown_token()?,
            outbox,
        );
        Ok(Self {
            pid: process::id(),
            inner: ManuallyDrop::new(Inner {
                core,
                channel,
                signal,
                dormant: Dormant::default(),
            }),
        })
    }

    fn here(&self) -> Result<&Inner> {
        let pid = process::id();
        if pid == self.pid {
            return Ok(&self.inner);
        }
        Err(Error::new(
            ErrorKind::Error,
            format!(
                "this run belongs to process {} and cannot be used in its forked child {pid}; \
                 start a new run here",
                self.pid
            ),
        ))
    }

    pub(super) fn channel(&self) -> Result<&Arc<HostChannel>> {
        Ok(&self.here()?.channel)
    }

    /// Begins the execution.
    ///
    /// # Errors
    /// [`ErrorKind::Error`] the second time, and in a forked child.
    pub fn start(&self, start: &HostStart) -> Result<()> {
        let inner = self.here()?;
        inner.core.begin()?;
        if !start.events {
            inner.core.outbox.mute();
        }
        if start.instrument {
            let measurements = &inner.core.outbox.measurements;
            measurements.tell_host(start.diagnostics);
            measurements.add_context(start.context.clone());
            measurements.describe_run(start.attributes.clone());
        }
        inner.core.use_conversation_host(Arc::new(HostConversation {
            channel: Arc::clone(&inner.channel),
            chooses_history: start.has_hook("session_history"),
            has_consumer: start.events,
        }));
        if start.has_hook("error_message") {
            inner.core.use_hooks(Arc::new(HostHooks {
                channel: Arc::clone(&inner.channel),
            }));
        }
        let entrypoint = Arc::new(HostEntrypoint {
            channel: Arc::clone(&inner.channel),
            participant: None,
        });
        let work = execute(Arc::clone(&inner.core), entrypoint, start.scope);
        let work = current::scope(Arc::clone(&inner.channel), work);
        match start.scope {
            Scope::Run | Scope::Agent => inner.dormant.begin(work, &inner.channel),
            // It is bounded by deadline and cancellation from the first moment.
            Scope::Model => executor::spawn_own(work),
        }
    }

    /// Continues a conversation. Call it before the start, or while the `entrypoint` call waits.
    ///
    /// # Errors
    /// [`ErrorKind::Error`] in a forked child.
    pub fn use_session(&self, options: SessionOptions) -> Result<()> {
        let inner = self.here()?;
        let invocation = &inner.core.invocation;
        let mut key = SessionKey::new(options.id, options.actor_id);
        key.generated = invocation.is_session_generated() && key.id == invocation.session_id();
        let store = options.store.unwrap_or_else(|| {
            Arc::new(CalledStore {
                channel: Arc::clone(&inner.channel),
            })
        });
        inner
            .core
            .use_session(Session::open(key, store, options.metadata));
        Ok(())
    }

    /// Has the manager of subagents that this run serves keep them with a session. Call it before the start.
    ///
    /// # Errors
    /// [`ErrorKind::Error`] in a forked child.
    pub fn keep_subagents_with(&self, options: SessionOptions) -> Result<()> {
        let inner = self.here()?;
        let key = SessionKey::new(options.id, options.actor_id);
        let store = options.store.unwrap_or_else(|| {
            Arc::new(CalledStore {
                channel: Arc::clone(&inner.channel),
            })
        });
        let session = Session::open(key, store, options.metadata);
        *inner.channel.serving.parent.lock() = Some(session);
        Ok(())
    }

    /// Has the manager of subagents that this run serves do what its tool `name` does with `input`, or `close`.
    /// The answer is the job's.
    ///
    /// # Errors
    /// [`ErrorKind::Error`] in a forked child, and as [`HostJob::start`].
    pub fn delegate(
        &self,
        name: &str,
        input: Map<String, Value>,
        parent_operation_id: Option<String>,
    ) -> Result<HostJob> {
        let inner = self.here()?;
        inner
            .channel
            .delegate(&inner.core, name, input, parent_operation_id)
    }

    /// The descriptor that is readable while there are items.
    #[must_use]
    pub fn fd(&self) -> RawFd {
        self.inner.signal.fd()
    }

    /// Takes all items that are there.
    ///
    /// # Errors
    /// [`ErrorKind::Error`] in a forked child.
    pub fn drain(&self) -> Result<VecDeque<Item>> {
        Ok(self.here()?.core.outbox.drain())
    }

    /// Answers a tool call that left the shared state as the engine knows it, so that the engine need
    /// not ask for the state.
    pub fn complete_without_state(&self, id: u64, answer: Value) {
        if let Ok(inner) = self.here() {
            inner.channel.left_state_alone();
            inner.channel.complete(id, Ok(answer));
            inner.dormant.wake();
        }
    }

    /// Answers a call. A late or unknown id is ignored.
    pub fn complete(&self, id: u64, answer: Result<Value, HostFailure>) {
        if let Ok(inner) = self.here() {
            inner.channel.complete(id, answer);
            inner.dormant.wake();
        }
    }

    /// Hands over events of the model that the host runs for call `id`: objects of `type` and
    /// `data`, from `message_start` to `usage`. A `message_stop` is ignored, because its response is the answer
    /// of the call; events for a call that is over are ignored.
    ///
    /// # Errors
    /// [`ErrorKind::Protocol`] for what a model cannot say; then none of `events` is delivered.
    pub fn emit(&self, id: u64, events: &[Value]) -> Result<()> {
        let inner = self.here()?;
        let mut parsed = Vec::with_capacity(events.len());
        for event in events {
            parsed.extend(model_event::from_value(event)?);
        }
        inner.channel.emit(id, parsed)
    }

    /// Hands over bytes of the response that the host fetches for the transport call `id`. False when no
    /// more are wanted: the call is over, or the response is too large.
    pub fn emit_bytes(&self, id: u64, bytes: Vec<u8>) -> bool {
        self.here()
            .is_ok_and(|inner| bytes.is_empty() || inner.channel.emit_bytes(id, Bytes::from(bytes)))
    }

    /// Prepares an invocation for the body of a workflow, which answers the part `scope` of the run:
    /// `{participant, name?, message?, history?, context?, policy?}`. Returns its ticket.
    ///
    /// # Errors
    /// [`ErrorKind::Error`] when no such body is at work; [`ErrorKind::Configuration`] for an unusable
    /// participant, [`ErrorKind::Argument`] for an unusable policy or message.
    pub fn invoke(&self, scope: u64, call: &Value) -> Result<u64> {
        self.here()?.channel.invoke(scope, call)
    }

    /// Makes the calls of `tickets`, at most `max_concurrency` at once. A `settled` call with the returned number brings
    /// their outputs, or the first failure, which cancels the others.
    ///
    /// # Errors
    /// [`ErrorKind::Protocol`] for a ticket that was settled before; [`ErrorKind::Error`] when no such body is
    /// at work.
    pub fn settle(&self, scope: u64, tickets: &[u64], max_concurrency: usize) -> Result<u64> {
        self.here()?.channel.settle(scope, tickets, max_concurrency)
    }

    /// Says something to the agent at work, without waiting for its answer.
    ///
    /// # Errors
    /// [`ErrorKind::AgentInterjection`] when no agent or more than one is at work, or it takes no more;
    /// [`ErrorKind::Argument`] for a message that cannot be delivered, or another one under a used
    /// id; [`ErrorKind::Error`] in a forked child and without descriptors.
    pub fn interject(&self, interjection: Interjection) -> Result<HostTicket> {
        let inner = self.here()?;
        let signal = Arc::new(open_signal("an interjection")?);
        let ticket = inner
            .core
            .interject(interjection, Some(Arc::clone(&signal)))?;
        Ok(HostTicket::new(ticket, signal))
    }

    /// Has the host's resource `id` closed when the run ends.
    ///
    /// # Errors
    /// [`ErrorKind::Error`] once the run is closed, and in a forked child.
    pub fn register(&self, id: u64) -> Result<()> {
        let inner = self.here()?;
        let channel = Arc::clone(&inner.channel);
        inner
            .core
            .resources
            .register(Box::new(HostResource { channel, id }))
    }

    /// Has the host asked to close the part `scope` when that ends, because it has something to close by then. It
    /// is told [`Item::PartOver`] of others.
    ///
    /// # Errors
    /// [`ErrorKind::Error`] once the part is over, and in a forked child.
    pub fn register_part(&self, scope: u64) -> Result<()> {
        self.here()?.channel.parts.register(scope)
    }

    /// Asks the run to stop; it then ends as cancelled.
    pub fn cancel(&self) {
        if let Ok(inner) = self.here() {
            inner.core.token.cancel();
        }
    }

    /// The consumer is gone, because it left or because it failed. Only `close` calls and
    /// [`Item::Done`] still come, also of a run that was not started; it cannot be started any more.
    pub fn interrupt(&self, failure: Option<HostFailure>) {
        if let Ok(inner) = self.here() {
            let interruption = match failure {
                Some(failure) => Interruption::Failed(failure.into()),
                None => Interruption::Abandoned,
            };
            inner.core.interrupt(interruption);
            inner.channel.withdraw_all();
            // A signal may come before the start. Whoever winds down waits for the end all the same.
            if self.close().is_err() {
                inner.core.outbox.push(Item::Done);
            }
            inner.dormant.wake();
        }
    }

    /// Closes the resources of a run that was never started. True when the host must now drive
    /// the run to [`Item::Done`]; false when there is nothing to do.
    ///
    /// # Errors
    /// [`ErrorKind::Error`] in a forked child.
    pub fn close(&self) -> Result<bool> {
        let inner = self.here()?;
        if inner.core.begin().is_err() {
            return Ok(false);
        }
        let core = Arc::clone(&inner.core);
        executor::spawn_own(async move {
            if let Some(error) = core.resources.close().await {
                core.fail_to_start(error);
            }
            core.outbox.push(Item::Done);
        })?;
        Ok(true)
    }

    /// What is known of the run now.
    #[must_use]
    pub fn report(&self) -> RunReport {
        let ending = self.inner.core.ending();
        RunReport {
            outcome: ending.outcome.map(|outcome| outcome.as_str()),
            response: ending.response,
            usage: self.inner.core.usage(),
            cost: self.inner.core.cost(),
            error: ending.error,
            result: ending.result,
            model_response: ending.model_response,
            raise: ending.raise,
        }
    }

    /// The run's identifier of operation.
    #[must_use]
    pub fn operation_id(&self) -> &str {
        &self.inner.core.operation_id
    }

    /// What a running tool watches: cancelled with the run, and when a deadline or a failure ends
    /// its work.
    #[must_use]
    pub fn work_token(&self) -> CancellationToken {
        self.inner.core.work.clone()
    }

    /// What the user code of a call watches: cancelled with [`work_token`](Self::work_token), and at once when the call is
    /// given up, whether or not the host looks at its queue meanwhile.
    #[must_use]
    pub fn call_token(&self, id: u64) -> CancellationToken {
        self.here().map_or_else(
            |_| self.work_token(),
            |inner| inner.channel.token(id, &inner.core.work),
        )
    }

    /// Cancelled when the run is; cancelling it cancels the run.
    #[must_use]
    pub fn token(&self) -> CancellationToken {
        self.inner.core.token.clone()
    }
}

impl Drop for HostRun {
    #[expect(unsafe_code, reason = "drops a field that a forked child must leak")]
    fn drop(&mut self) {
        if process::id() == self.pid {
            self.inner.core.interrupt(Interruption::Abandoned);
            self.inner.channel.disconnect();
            self.inner.dormant.wake();
            // SAFETY: `drop` runs once, and nothing uses the field afterwards.
            unsafe { ManuallyDrop::drop(&mut self.inner) };
        }
    }
}

fn open_signal(purpose: &str) -> Result<WakeSignal> {
    WakeSignal::new().map_err(|problem| {
        Error::new(
            ErrorKind::Error,
            format!(
                "cannot open a descriptor for {purpose}: {problem}; raise the limit of open files"
            ),
        )
    })
}
