//! `Run`: the native side of one run, driven by Python.

use std::os::fd::RawFd;
use std::sync::Arc;

use little_ghost::host::{HostCall, HostFailure, HostRun, HostStart, Item, SessionOptions};
use little_ghost::{ErrorKind, HostException, Interjection, Invocation, RunResult};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use serde_json::Value;

use super::{CancellationToken, Job, Runtime, SessionStore, Ticket};
use crate::error::OrRaise as _;
use crate::guard::guard;
use crate::{event, value};

/// First element of a drained tuple: `(EVENT, type, data)`.
pub(crate) const EVENT: u8 = 0;
/// `(CALL, id, kind, payload)`.
pub(crate) const CALL: u8 = 1;
/// `(CANCELLED, id)`.
pub(crate) const CANCELLED: u8 = 2;
/// `(PART_OVER, scope)`.
pub(crate) const PART_OVER: u8 = 6;
/// `(DONE,)`.
pub(crate) const DONE: u8 = 3;
/// `(NOTICE, payload)`.
pub(crate) const NOTICE: u8 = 4;
/// `(INSTRUMENT, payload)`.
pub(crate) const INSTRUMENT: u8 = 5;

/// A failure of the host: `(kind, exception id, class name, message)`.
pub(crate) type Failure = (String, u64, String, String);

/// One run. Whoever drives it waits on `fd`, drains, and answers calls.
/// The result of a run, converted when somebody asks for it.
#[pyclass(frozen, module = "little_ghost._native")]
pub(crate) struct Outcome(Arc<RunResult>);

#[pymethods]
impl Outcome {
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        guard(|| value::to_python(py, &self.0.to_value()))
    }
}

#[pyclass(frozen, module = "little_ghost._native")]
pub(crate) struct Run {
    inner: HostRun,
    identity: (String, String, String),
}

pub(crate) fn host_failure((kind, id, class, message): Failure) -> HostFailure {
    HostFailure {
        kind: ErrorKind::from_name(&kind).unwrap_or(ErrorKind::Host),
        exception: HostException { id, class },
        message,
        status: None,
        body: None,
    }
}

fn session_options(
    id: String,
    actor_id: Option<String>,
    metadata: &Bound<'_, PyDict>,
    store: Option<&Bound<'_, SessionStore>>,
) -> PyResult<SessionOptions> {
    Ok(SessionOptions {
        id,
        actor_id,
        metadata: value::map_from_python(metadata)?,
        store: store.map(|store| store.get().inner.shared()),
    })
}

#[pymethods]
impl Run {
    #[new]
    fn new(
        runtime: &Bound<'_, Runtime>,
        invocation: &Bound<'_, PyDict>,
        token: &Bound<'_, CancellationToken>,
    ) -> PyResult<Self> {
        guard(|| {
            let invocation = Value::Object(value::map_from_python(invocation)?);
            let invocation = Invocation::from_value(&invocation).or_raise()?;
            let identity = (
                invocation.run_id().to_owned(),
                invocation.invocation_id().to_owned(),
                invocation.session_id().to_owned(),
            );
            let inner =
                HostRun::new(runtime.get().inner(), invocation, &token.get().inner()).or_raise()?;
            Ok(Self { inner, identity })
        })
    }

    fn start(&self, start: &Bound<'_, PyDict>) -> PyResult<()> {
        guard(|| {
            let start = Value::Object(value::map_from_python(start)?);
            let start = HostStart::from_value(&start).or_raise()?;
            self.inner.start(&start).or_raise()
        })
    }

    /// Continues a conversation. Without a store, the host's own is asked.
    fn use_session(
        &self,
        id: String,
        actor_id: Option<String>,
        metadata: &Bound<'_, PyDict>,
        store: Option<&Bound<'_, SessionStore>>,
    ) -> PyResult<()> {
        guard(|| {
            let options = session_options(id, actor_id, metadata, store)?;
            self.inner.use_session(options).or_raise()
        })
    }

    /// Has the manager of subagents that this run serves keep them with a session.
    fn keep_subagents_with(
        &self,
        id: String,
        actor_id: Option<String>,
        metadata: &Bound<'_, PyDict>,
        store: Option<&Bound<'_, SessionStore>>,
    ) -> PyResult<()> {
        guard(|| {
            let options = session_options(id, actor_id, metadata, store)?;
            self.inner.keep_subagents_with(options).or_raise()
        })
    }

    /// Has the manager of subagents that this run serves do what its tool of that name does, or `close`.
    fn delegate(
        &self,
        name: &str,
        input: &Bound<'_, PyDict>,
        parent_operation_id: Option<String>,
    ) -> PyResult<Job> {
        guard(|| {
            let input = value::map_from_python(input)?;
            let job = self.inner.delegate(name, input, parent_operation_id);
            Ok(Job::wrap(job.or_raise()?))
        })
    }

    /// Hands over events of a model call: dicts of type and data.
    fn emit(&self, id: u64, events: &Bound<'_, PyList>) -> PyResult<()> {
        guard(|| match value::from_python(events.as_any())? {
            Value::Array(events) => self.inner.emit(id, &events).or_raise(),
            _ => Ok(()),
        })
    }

    /// Hands over bytes of a transport call; whether more are wanted.
    fn emit_bytes(&self, id: u64, bytes: &[u8]) -> PyResult<bool> {
        guard(|| Ok(self.inner.emit_bytes(id, bytes.to_vec())))
    }

    /// Prepares an invocation for the body of a workflow, and returns its ticket.
    fn invoke(&self, scope: u64, call: &Bound<'_, PyDict>) -> PyResult<u64> {
        guard(|| {
            let call = Value::Object(value::map_from_python(call)?);
            self.inner.invoke(scope, &call).or_raise()
        })
    }

    /// Makes the calls of these tickets; a `settled` call with the returned number brings what came of them.
    fn settle(&self, scope: u64, tickets: Vec<u64>, max_concurrency: usize) -> PyResult<u64> {
        guard(|| {
            self.inner
                .settle(scope, &tickets, max_concurrency)
                .or_raise()
        })
    }

    /// Says something to the agent at work; the ticket gets the answer.
    fn interject(&self, interjection: &Bound<'_, PyDict>) -> PyResult<Ticket> {
        guard(|| {
            let interjection = Value::Object(value::map_from_python(interjection)?);
            let interjection = Interjection::from_value(&interjection).or_raise()?;
            self.inner
                .interject(interjection)
                .map(Ticket::wrap)
                .or_raise()
        })
    }

    /// The response of a single model request, or None.
    fn model_response<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        guard(|| {
            let response = self.inner.report().model_response;
            let value = response.map(|response| response.to_value());
            value::to_python(py, &value.unwrap_or_default())
        })
    }

    /// Readable while there is something to drain. Owned by this object.
    #[getter]
    fn fd(&self) -> RawFd {
        self.inner.fd()
    }

    /// Cancelled when the run is; cancelling it cancels the run.
    #[getter]
    fn token(&self) -> CancellationToken {
        CancellationToken::wrap(self.inner.token())
    }

    /// What a running tool watches: cancelled with the run, and when a deadline ends its work.
    #[getter]
    fn work_token(&self) -> CancellationToken {
        CancellationToken::wrap(self.inner.work_token())
    }

    /// What the code of a call watches: cancelled with the run's work, and when the call is given up.
    fn call_token(&self, id: u64) -> CancellationToken {
        CancellationToken::wrap(self.inner.call_token(id))
    }

    /// `(run id, invocation id, session id)`, generated where none was given.
    #[getter]
    fn identity(&self) -> (&str, &str, &str) {
        let (run, invocation, session) = &self.identity;
        (run, invocation, session)
    }

    #[getter]
    fn operation_id(&self) -> &str {
        self.inner.operation_id()
    }

    /// Moves everything that is there to the end of the deque `into`. Without `events`, events are
    /// dropped and cost nothing.
    ///
    /// Filled from here, because a signal handler may raise between the return of a function and the
    /// assignment of its result, and what was drained would be lost.
    fn drain(&self, into: &Bound<'_, PyAny>, events: bool) -> PyResult<()> {
        guard(|| {
            let py = into.py();
            let list = PyList::empty(py);
            for item in self.inner.drain().or_raise()? {
                match item {
                    Item::Event(event) if events => {
                        list.append(event::to_python(py, &event)?)?;
                    }
                    Item::Event(_) => {}
                    Item::Call(call) => list.append(call_to_python(py, &call)?)?,
                    Item::Cancelled(id) => list.append((CANCELLED, id))?,
                    Item::PartOver(scope) => list.append((PART_OVER, scope))?,
                    Item::Notice(notice) => {
                        list.append((NOTICE, value::to_python(py, &notice.to_value())?))?;
                    }
                    Item::Instrument(instrument) => {
                        let payload = value::to_python(py, &instrument.to_value())?;
                        list.append((INSTRUMENT, payload))?;
                    }
                    Item::Done => list.append((DONE,))?,
                    // An item of a newer engine: the build of this extension would have to know it.
                    _ => {}
                }
            }
            if !list.is_empty() {
                into.call_method1(intern!(py, "extend"), (list,))?;
            }
            Ok(())
        })
    }

    /// Answers a call with a JSON-like value.
    fn complete(&self, id: u64, value: &Bound<'_, PyAny>) -> PyResult<()> {
        guard(|| {
            self.inner.complete(id, Ok(value::from_python(value)?));
            Ok(())
        })
    }

    /// As `complete`, of a tool that left the run's state as the engine knows it.
    fn complete_without_state(&self, id: u64, value: &Bound<'_, PyAny>) -> PyResult<()> {
        guard(|| {
            self.inner
                .complete_without_state(id, value::from_python(value)?);
            Ok(())
        })
    }

    /// Answers a call with a failure `(kind, exception id, class name, message)`.
    fn fail(&self, id: u64, failure: Failure) -> PyResult<()> {
        guard(|| {
            self.inner.complete(id, Err(host_failure(failure)));
            Ok(())
        })
    }

    /// As `fail`, with the status and the body that the exception reports.
    fn fail_http(
        &self,
        id: u64,
        failure: Failure,
        status: Option<u16>,
        body: Option<String>,
    ) -> PyResult<()> {
        guard(|| {
            let failure = HostFailure {
                status,
                body,
                ..host_failure(failure)
            };
            self.inner.complete(id, Err(failure));
            Ok(())
        })
    }

    /// A job whose answer is `{id, value, error}`: the call of a tool for a program of the engine that was
    /// opened with `broker`.
    fn call_tool_of_program(
        &self,
        broker: u64,
        name: String,
        arguments: &Bound<'_, PyAny>,
        id: String,
    ) -> PyResult<Job> {
        guard(|| {
            let arguments = value::from_python(arguments)?;
            let called = self.inner.call_tool_of_program(broker, name, arguments, id);
            Ok(Job::wrap(called.or_raise()?))
        })
    }

    /// Adds a resource of the host to the clean-up.
    fn register(&self, resource: u64) -> PyResult<()> {
        guard(|| self.inner.register(resource).or_raise())
    }

    /// Has the end of a part be a `close` call.
    fn register_part(&self, scope: u64) -> PyResult<()> {
        guard(|| self.inner.register_part(scope).or_raise())
    }

    /// Asks the run to stop; it goes on until it is done.
    fn cancel(&self) -> PyResult<()> {
        guard(|| {
            self.inner.cancel();
            Ok(())
        })
    }

    /// Says that the consumer is gone; only `close` calls and the end still come.
    fn interrupt(&self, failure: Option<Failure>) -> PyResult<()> {
        guard(|| {
            self.inner.interrupt(failure.map(host_failure));
            Ok(())
        })
    }

    /// Closes a dormant run. True: drive it until it is done.
    fn close(&self) -> PyResult<bool> {
        guard(|| self.inner.close().or_raise())
    }

    /// `(outcome, response, usage, cost, error, raise, result)` of a run that is done.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        guard(|| {
            let report = self.inner.report();
            let optional = |value: Option<Value>| value::to_python(py, &value.unwrap_or_default());
            (
                report.outcome,
                report.response,
                value::to_python(py, &report.usage.to_value())?,
                report.cost.map(|cost| cost.to_string()),
                optional(report.error.map(|error| error.to_value()))?,
                optional(report.raise.map(|error| error.to_value()))?,
                report.result.map(Outcome),
            )
                .into_pyobject(py)
        })
    }
}

pub(super) fn call_to_python<'py>(
    py: Python<'py>,
    call: &HostCall,
) -> PyResult<Bound<'py, PyTuple>> {
    (
        CALL,
        call.id,
        call.kind.as_str(),
        value::to_python(py, &call.payload)?,
    )
        .into_pyobject(py)
}
