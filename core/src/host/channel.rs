//! Calls from the engine to user code, answered by id.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use bytes::Bytes;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::code_mode::Brokers;
use super::parts::OpenParts;
use super::subagents::Serving;
use super::workflow::Works;
use crate::error::{Error, ErrorKind, HostException, Result};
use crate::event::StreamEvent;
use crate::run::{Item, Outbox};

/// What the engine asks of the host.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostCallKind {
    /// Build the agent: answer its model, prompt, tools and limits.
    Entrypoint,
    /// Run a tool.
    Tool,
    /// Close a registered resource.
    Close,
    /// Run a callback of the agent.
    Callback,
    /// Answer a model request.
    Model,
    /// Use the host's own session store.
    Session,
    /// Give the run's shared state.
    State,
    /// Lay the request's values over the stored state.
    StateRestored,
    /// Ask the application's hooks.
    Hook,
    /// Run the body of a workflow.
    Perform,
    /// Take the outputs that the body of a workflow waits for.
    Settled,
    /// Decide something for an assembly: a condition, an input, whether a failure matches.
    Assembly,
    /// Make a turn of a scripted model from its request.
    ScriptedTurn,
    /// Carry a request of a provider, instead of the network.
    Transport,
    /// Do something for code mode: an engine or a session of the application, a call of a program.
    CodeMode,
    /// Do something else of what the application put in the place of parts of a provider.
    Provider,
    /// Work in a sandbox of the application, or with one of its processes.
    Sandbox,
}

impl HostCallKind {
    /// The name that hosts dispatch on.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            HostCallKind::Entrypoint => "entrypoint",
            HostCallKind::Tool => "tool",
            HostCallKind::Close => "close",
            HostCallKind::Callback => "callback",
            HostCallKind::Model => "model",
            HostCallKind::Session => "session",
            HostCallKind::State => "state",
            HostCallKind::StateRestored => "state_restored",
            HostCallKind::Hook => "hook",
            HostCallKind::Perform => "perform",
            HostCallKind::Settled => "settled",
            HostCallKind::Assembly => "assembly",
            HostCallKind::ScriptedTurn => "scripted_turn",
            HostCallKind::Transport => "transport",
            HostCallKind::CodeMode => "code_mode",
            HostCallKind::Provider => "provider",
            HostCallKind::Sandbox => "sandbox",
        }
    }
}

impl HostCallKind {
    /// Whether code runs that can reach the shared state.
    const fn runs_user_code(self) -> bool {
        !matches!(
            self,
            HostCallKind::Close
                | HostCallKind::Session
                | HostCallKind::State
                | HostCallKind::StateRestored
                | HostCallKind::Transport
                | HostCallKind::Provider
        )
    }
}

/// One request to user code. The host answers with the same `id`.
#[derive(Debug)]
pub struct HostCall {
    /// Unique within the run.
    pub id: u64,
    /// What to do.
    pub kind: HostCallKind,
    /// Arguments; their shape depends on `kind`.
    pub payload: Value,
}

/// A host exception as it crosses into the engine.
#[derive(Clone, Debug)]
pub struct HostFailure {
    /// The class in [`ErrorKind::ALL`] that the exception is, or [`ErrorKind::Host`] for a foreign one.
    pub kind: ErrorKind,
    /// Key of the exception object in the host's table, and its class name.
    pub exception: HostException,
    /// The exception's message.
    pub message: String,
    /// The HTTP status that it reports, if it does.
    pub status: Option<u16>,
    /// The response body that it reports, if it does.
    pub body: Option<String>,
}

impl From<HostFailure> for Error {
    fn from(failure: HostFailure) -> Error {
        Error::new(failure.kind, failure.message)
            .with_host(failure.exception)
            .with_http(failure.status, failure.body)
    }
}

/// The calls of one run that wait for the host.
#[derive(Debug)]
pub(crate) struct HostChannel {
    pub(super) outbox: Arc<Outbox>,
    pending: Mutex<Pending>,
    next_id: AtomicU64,
    /// Parts of the run that the host has begun.
    pub(super) parts: OpenParts,
    /// Bodies of workflows at work.
    pub(super) works: Works,
    /// The manager of subagents that the host uses by itself.
    pub(super) serving: Serving,
    /// What programs of the application's own engines call tools through.
    pub(super) brokers: Brokers,
    /// Calls to user code that may have changed the state since it was last read.
    touched: AtomicU32,
}

#[derive(Debug, Default)]
struct Pending {
    answers: HashMap<u64, Waiting>,
    reach: Reach,
}

/// Which calls the host still takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Reach {
    #[default]
    Everything,
    /// The consumer left: only resources are closed.
    Closing,
    /// The host forgot the run.
    Nothing,
}

impl Reach {
    fn takes(self, kind: HostCallKind) -> bool {
        match self {
            Reach::Everything => true,
            // What closes may have processes of the application's sandboxes to end.
            Reach::Closing => matches!(kind, HostCallKind::Close | HostCallKind::Sandbox),
            Reach::Nothing => false,
        }
    }
}

impl HostChannel {
    pub(crate) fn new(outbox: Arc<Outbox>) -> Arc<Self> {
        Arc::new(Self {
            outbox,
            pending: Mutex::default(),
            next_id: AtomicU64::new(1),
            parts: OpenParts::default(),
            works: Works::default(),
            serving: Serving::default(),
            brokers: Brokers::default(),
            touched: AtomicU32::new(1),
        })
    }

    /// Queues a call and waits for its answer. Dropping the future withdraws the call.
    pub(crate) async fn call(
        self: &Arc<Self>,
        kind: HostCallKind,
        payload: Value,
    ) -> Result<Value> {
        self.queue(kind, payload, None)?.wait().await
    }

    /// Queues a call that sends events before its answer. The events end when the answer is there.
    pub(crate) fn open(
        self: &Arc<Self>,
        kind: HostCallKind,
        payload: Value,
    ) -> Result<(mpsc::UnboundedReceiver<StreamEvent>, PendingAnswer)> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let answer = self.queue(kind, payload, Some(Flow::Events(sender)))?;
        Ok((receiver, answer))
    }

    /// As [`open`](Self::open), of a call that sends bytes. After about `limit` of them no more are taken.
    pub(crate) fn open_bytes(
        self: &Arc<Self>,
        kind: HostCallKind,
        payload: Value,
        limit: u64,
    ) -> Result<(mpsc::UnboundedReceiver<Bytes>, PendingAnswer)> {
        let (sender, receiver) = mpsc::unbounded_channel();
        // One more, so that what fills the limit exactly does not end a response that goes on.
        let left = limit.saturating_add(1);
        let answer = self.queue(kind, payload, Some(Flow::Bytes { sender, left }))?;
        Ok((receiver, answer))
    }

    fn queue(
        self: &Arc<Self>,
        kind: HostCallKind,
        payload: Value,
        flow: Option<Flow>,
    ) -> Result<PendingAnswer> {
        if kind.runs_user_code() {
            self.touched.fetch_add(1, Ordering::Release);
        }
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (answer, receiver) = oneshot::channel();
        {
            let mut pending = self.pending.lock();
            if !pending.reach.takes(kind) {
                return Err(Error::cancelled());
            }
            let waiting = Waiting {
                kind,
                answer,
                flow,
                token: None,
            };
            pending.answers.insert(id, waiting);
        }
        self.outbox.push(Item::Call(HostCall { id, kind, payload }));
        Ok(PendingAnswer {
            channel: Arc::clone(self),
            id,
            receiver,
            answered: false,
        })
    }

    /// What the user code of a call watches: a child of `work` that is cancelled at the moment when the call is given up,
    /// whether or not the host looks at its queue meanwhile.
    pub(crate) fn token(&self, id: u64, work: &CancellationToken) -> CancellationToken {
        let mut pending = self.pending.lock();
        let Some(waiting) = pending.answers.get_mut(&id) else {
            let over = work.child_token();
            over.cancel();
            return over;
        };
        waiting
            .token
            .get_or_insert_with(|| work.child_token())
            .clone()
    }

    /// Whether a call waits for its answer.
    pub(super) fn is_waiting(&self) -> bool {
        !self.pending.lock().answers.is_empty()
    }

    /// Whether user code was called since this was last asked.
    pub(crate) fn was_touched(&self) -> bool {
        self.touched.swap(0, Ordering::AcqRel) > 0
    }

    /// A call that is about to be answered left the state as it was.
    pub(crate) fn left_state_alone(&self) {
        let one_less = |touched: u32| touched.checked_sub(1);
        let _ = self
            .touched
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, one_less);
    }

    /// Answers a call. An unknown or withdrawn id is ignored: the answer came too late.
    pub(crate) fn complete(&self, id: u64, answer: Result<Value, HostFailure>) {
        let waiting = self.pending.lock().answers.remove(&id);
        if let Some(waiting) = waiting {
            drop(waiting.flow);
            let _ = waiting.answer.send(answer.map_err(Error::from));
        }
    }

    /// Hands over events of an open call. Events that come too late are ignored.
    pub(crate) fn emit(&self, id: u64, events: Vec<StreamEvent>) -> Result<()> {
        let sender = match self.pending.lock().answers.get(&id) {
            None => return Ok(()),
            Some(waiting) => match &waiting.flow {
                Some(Flow::Events(sender)) => sender.clone(),
                _ => {
                    return Err(Error::new(
                        ErrorKind::Protocol,
                        "only a model call can send events",
                    ));
                }
            },
        };
        for event in events {
            let _ = sender.send(event);
        }
        Ok(())
    }

    /// Hands over bytes of an open call; whether more are wanted.
    pub(crate) fn emit_bytes(&self, id: u64, bytes: Bytes) -> bool {
        let mut pending = self.pending.lock();
        let flow = pending
            .answers
            .get_mut(&id)
            .and_then(|waiting| waiting.flow.as_mut());
        let Some(Flow::Bytes { sender, left }) = flow else {
            return false;
        };
        // The chunk that goes beyond the limit is let through, so that the reader finds it exceeded.
        if *left == 0 {
            return false;
        }
        *left = left.saturating_sub(bytes.len() as u64);
        sender.send(bytes).is_ok()
    }

    /// Gives up every call in flight and takes only `close` calls from now on.
    pub(crate) fn withdraw_all(&self) {
        self.narrow(Reach::Closing);
    }

    /// Gives up every call, now and later: the host forgot the run.
    pub(crate) fn disconnect(&self) {
        self.narrow(Reach::Nothing);
    }

    fn narrow(&self, reach: Reach) {
        let given_up: Vec<Waiting> = {
            let mut pending = self.pending.lock();
            pending.reach = reach;
            pending
                .answers
                .extract_if(|_, waiting| !reach.takes(waiting.kind))
                .map(|(_, waiting)| waiting)
                .collect()
        };
        // Outside the lock: each sender that is dropped wakes the task that awaits its answer.
        given_up.into_iter().for_each(Waiting::give_up);
    }
}

/// A call in flight.
#[derive(Debug)]
struct Waiting {
    kind: HostCallKind,
    answer: oneshot::Sender<Result<Value>>,
    flow: Option<Flow>,
    /// What its user code watches, once that has asked.
    token: Option<CancellationToken>,
}

impl Waiting {
    fn give_up(self) {
        if let Some(token) = self.token {
            token.cancel();
        }
    }
}

/// What a call sends before its answer.
#[derive(Debug)]
enum Flow {
    Events(mpsc::UnboundedSender<StreamEvent>),
    Bytes {
        sender: mpsc::UnboundedSender<Bytes>,
        left: u64,
    },
}

/// The answer to come. Dropping it tells the host that the call is given up.
#[derive(Debug)]
pub(crate) struct PendingAnswer {
    channel: Arc<HostChannel>,
    id: u64,
    receiver: oneshot::Receiver<Result<Value>>,
    answered: bool,
}

impl PendingAnswer {
    /// Waits for the answer.
    pub(crate) async fn wait(mut self) -> Result<Value> {
        let answer = (&mut self.receiver).await;
        self.answered = true;
        answer.unwrap_or_else(|_| Err(Error::cancelled()))
    }
}

impl Drop for PendingAnswer {
    fn drop(&mut self) {
        if !self.answered {
            let given_up = self.channel.pending.lock().answers.remove(&self.id);
            if let Some(given_up) = given_up {
                given_up.give_up();
            }
            self.channel.outbox.push(Item::Cancelled(self.id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::WakeSignal;

    #[tokio::test]
    async fn code_is_told_at_once_when_its_call_is_given_up() {
        let signal = Arc::new(WakeSignal::new().unwrap());
        let channel = HostChannel::new(Outbox::for_host(signal));
        let queue = || channel.queue(HostCallKind::Tool, Value::Null, None);
        let work = CancellationToken::new();

        let answered = queue().unwrap();
        let kept = channel.token(answered.id, &work);
        channel.complete(answered.id, Ok(Value::Null));
        answered.wait().await.unwrap();
        assert!(!kept.is_cancelled());

        let call = queue().unwrap();
        let (id, token) = (call.id, channel.token(call.id, &work));
        assert!(!token.is_cancelled());
        drop(call);
        assert!(token.is_cancelled() && channel.token(id, &work).is_cancelled());

        let call = queue().unwrap();
        let token = channel.token(call.id, &work);
        channel.disconnect();
        assert!(token.is_cancelled() && !work.is_cancelled());
        drop(call);
    }
}
