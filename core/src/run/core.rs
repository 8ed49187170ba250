//! The state that a run's task, its consumer and its tools share.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::account::Account;
use super::active::ActiveInvocations;
use super::checkpoint::Checkpoint;
use super::conversation::Conversation;
use super::hold::Hold;
use super::outcome::{Ending, Outcome};
use super::place::Place;
use super::resource::Resources;
use super::{EventObserver, EventSender, Invocation, Outbox, Premises, RunHooks, RunResult};
use crate::agent::{Interjection, Ticket};
use crate::cost::Cost;
use crate::error::{Error, ErrorKind, Result};
use crate::host::WakeSignal;
use crate::http;
use crate::message::{Message, Usage};
use crate::runtime::Runtime;

/// Why nobody consumes the run any more.
#[derive(Clone, Debug)]
pub(crate) enum Interruption {
    /// The consumer left.
    Abandoned,
    /// The consumer failed with this error.
    Failed(Error),
}

/// One run, shared by everything that works on it; or a [part](Self::part) of one.
pub(crate) struct RunCore {
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) invocation: Invocation,
    pub(crate) token: CancellationToken,
    /// What running tools see: cancelled with the run, and when its work ends without a result.
    pub(crate) work: CancellationToken,
    /// Cancelled when the host process is about to exit.
    pub(crate) shutdown: CancellationToken,
    pub(crate) outbox: Arc<Outbox>,
    /// The tokens that it used.
    pub(crate) account: Arc<Account>,
    pub(crate) operation_id: String,
    pub(crate) resources: Resources,
    pub(crate) conversation: Conversation,
    /// Taken by exclusive tools; shared by every agent of the run.
    pub(crate) exclusive: Arc<tokio::sync::Mutex<()>>,
    /// The agents at work.
    pub(crate) active: Arc<ActiveInvocations>,
    /// Where in the run this part is.
    pub(crate) place: Place,
    /// The workspace and the sandbox that its tools work in.
    pub(super) premises: Mutex<Premises>,
    /// The run of a part; `None` for the run itself.
    pub(super) root: Option<Arc<RunCore>>,
    /// Parts that were made so far.
    pub(super) scopes: AtomicU64,
    /// Where its events wait, if they do.
    pub(super) hold: OnceLock<Hold>,
    /// Who sees its events, besides those who get them.
    pub(super) observer: OnceLock<Arc<dyn EventObserver>>,
    pub(super) state: Mutex<Map<String, Value>>,
    pub(super) hooks: OnceLock<Arc<dyn RunHooks>>,
    pub(super) checkpoint: Mutex<Option<Arc<dyn Checkpoint>>>,
    pub(super) result: Mutex<Option<Arc<RunResult>>>,
    pub(super) ending: Mutex<Ending>,
    pub(super) interruption: Mutex<Option<Interruption>>,
    pub(super) started: AtomicBool,
}

impl RunCore {
    pub(crate) fn new(
        runtime: Arc<Runtime>,
        invocation: Invocation,
        token: CancellationToken,
        shutdown: CancellationToken,
        outbox: Arc<Outbox>,
    ) -> Arc<Self> {
        let telemetry = runtime.telemetry().clone();
        outbox
            .measurements
            .begin(telemetry, &invocation, token.clone());
        Arc::new(Self {
            runtime,
            work: token.child_token(),
            state: Mutex::new(invocation.context().clone()),
            invocation,
            token,
            shutdown,
            outbox,
            account: Arc::default(),
            operation_id: Uuid::new_v4().to_string(),
            resources: Resources::default(),
            conversation: Conversation::default(),
            exclusive: Arc::default(),
            active: Arc::default(),
            place: Place::default(),
            premises: Mutex::default(),
            root: None,
            scopes: AtomicU64::new(0),
            hold: OnceLock::new(),
            observer: OnceLock::new(),
            hooks: OnceLock::new(),
            checkpoint: Mutex::default(),
            result: Mutex::default(),
            ending: Mutex::default(),
            interruption: Mutex::default(),
            started: AtomicBool::new(false),
        })
    }

    /// Claims the one execution.
    pub(crate) fn begin(&self) -> Result<()> {
        if self.started.swap(true, Ordering::AcqRel) {
            return Err(Error::new(
                ErrorKind::Error,
                "this run was already executed; a run executes only once",
            ));
        }
        Ok(())
    }

    /// Hands `interjection` to the agent at work; `signal` is woken with the answer.
    pub(crate) fn interject(
        &self,
        interjection: Interjection,
        signal: Option<Arc<WakeSignal>>,
    ) -> Result<Ticket> {
        let ticket = self.active.find(&interjection)?.add(interjection, signal)?;
        self.outbox.notify(
            "agent_interjection_queued",
            || json!({"interjection_id": ticket.id(), "event_kind": "interjection"}),
        );
        Ok(ticket)
    }

    /// The run of a part, or the run itself.
    pub(crate) fn root(self: &Arc<Self>) -> &Arc<Self> {
        self.root.as_ref().unwrap_or(self)
    }

    /// Whether this is a part of a run.
    pub(crate) fn is_part(&self) -> bool {
        self.root.is_some()
    }

    pub(crate) fn events(&self) -> EventSender {
        let (outbox, account) = (Arc::clone(&self.outbox), Arc::clone(&self.account));
        EventSender::of_part(
            outbox,
            account,
            self.place.audience,
            self.hold.get().cloned(),
        )
        .observed(self.observer.get().cloned())
    }

    /// Has `observer` see the events of this part from now on.
    pub(crate) fn observe(&self, observer: Arc<dyn EventObserver>) {
        let _ = self.observer.set(observer);
    }

    /// Has the ordinary events of this part wait in `hold` from now on.
    pub(crate) fn hold_events(&self, hold: Hold) {
        let _ = self.hold.set(hold);
    }

    /// Fails when the run should stop.
    pub(crate) fn check(&self) -> Result<()> {
        if self.token.is_cancelled() || self.shutdown.is_cancelled() {
            return Err(Error::cancelled());
        }
        match self.invocation.deadline() {
            Some(deadline) if deadline.is_past() => Err(Error::deadline_exceeded()),
            _ => Ok(()),
        }
    }

    /// Runs `work` until it is done, cancelled or past the deadline; dropping it closes its sockets.
    pub(crate) fn bounded<T>(
        &self,
        work: impl Future<Output = Result<T>>,
    ) -> impl Future<Output = Result<T>> {
        // On the heap, because each of the functions below would have room for it twice.
        let work = Box::pin(work);
        async move {
            self.check()?;
            let bounded = http::scope(self.runtime.transports(), self.race(work)).await;
            if bounded.is_err() {
                self.work.cancel();
            }
            bounded
        }
    }

    async fn race<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::select! {
            biased;
            error = self.stopped() => Err(error),
            result = work => result,
            error = self.expired() => Err(error),
        }
    }

    async fn stopped(&self) -> Error {
        tokio::select! {
            () = self.token.cancelled() => {}
            () = self.shutdown.cancelled() => {}
        }
        Error::cancelled()
    }

    async fn expired(&self) -> Error {
        match self.invocation.deadline() {
            Some(deadline) => tokio::time::sleep_until(deadline.instant()).await,
            None => std::future::pending().await,
        }
        Error::deadline_exceeded()
    }

    /// Why the work has to end, once it has to.
    pub(crate) async fn over(&self) -> Error {
        tokio::select! {
            biased;
            error = self.stopped() => error,
            error = self.expired() => error,
        }
    }

    /// The consumer is gone: stop the work and deliver nothing more.
    pub(crate) fn interrupt(&self, interruption: Interruption) {
        self.interruption.lock().get_or_insert(interruption);
        self.outbox.abandon();
        self.token.cancel();
    }

    pub(crate) fn interruption(&self) -> Option<Interruption> {
        self.interruption.lock().clone()
    }

    pub(crate) fn with_state<T>(&self, change: impl FnOnce(&mut Map<String, Value>) -> T) -> T {
        change(&mut self.state.lock())
    }

    /// Asks `hooks` from now on.
    pub(crate) fn use_hooks(&self, hooks: Arc<dyn RunHooks>) {
        let _ = self.hooks.set(hooks);
    }

    /// The application's hooks, if it has any.
    pub(crate) fn hooks(&self) -> Option<&Arc<dyn RunHooks>> {
        self.hooks.get()
    }

    pub(crate) fn usage(&self) -> Usage {
        self.account.usage()
    }

    pub(crate) fn cost(&self) -> Option<Cost> {
        self.account.cost()
    }

    /// Has `checkpoint` keep the conversation from now on.
    pub(crate) fn keep_checkpoints(&self, checkpoint: Arc<dyn Checkpoint>) {
        *self.checkpoint.lock() = Some(checkpoint);
    }

    /// A point of the conversation from which it could go on later.
    pub(crate) async fn checkpoint(&self, messages: &[Message]) -> Result<()> {
        let checkpoint = self.checkpoint.lock().clone();
        match checkpoint {
            Some(checkpoint) => checkpoint.save(self, messages).await,
            None => Ok(()),
        }
    }

    /// Keeps the result as soon as the agent has one, whatever happens to the run afterwards.
    pub(crate) fn keep_result(&self, result: Arc<RunResult>) {
        *self.result.lock() = Some(result);
    }

    pub(crate) fn kept_result(&self) -> Option<Arc<RunResult>> {
        self.result.lock().clone()
    }

    /// Records that the run could not even be started, or not be finished.
    pub(crate) fn fail_to_start(&self, error: Error) {
        self.end(Ending {
            outcome: Some(Outcome::Failed),
            error: Some(error.clone()),
            raise: Some(error),
            ..Ending::default()
        });
    }

    pub(crate) fn end(&self, ending: Ending) {
        *self.ending.lock() = ending;
    }

    pub(crate) fn ending(&self) -> Ending {
        self.ending.lock().clone()
    }
}

impl std::fmt::Debug for RunCore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("RunCore")
            .field("operation_id", &self.operation_id)
            .field("ending", &self.ending())
            .finish_non_exhaustive()
    }
}
