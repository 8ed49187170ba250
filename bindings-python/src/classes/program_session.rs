//! A session of a built-in code-mode engine that Python uses by itself.

use std::os::fd::RawFd;

use little_ghost::host::HostProgramSession;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value;

use super::catalog::Job;
use super::run::{CANCELLED, Failure, call_to_python, host_failure};
use crate::error::OrRaise as _;
use crate::guard::guard;
use crate::value;

/// A session of a built-in code-mode engine.
#[pyclass(frozen, module = "little_ghost._native")]
pub(crate) struct ProgramSession(HostProgramSession);

#[pymethods]
impl ProgramSession {
    /// Of `engine`, a name or `{name, interpreter}`, for the tools of `catalog`.
    #[new]
    fn new(
        engine: &Bound<'_, PyAny>,
        catalog: &Bound<'_, PyAny>,
        sandbox: &Bound<'_, PyAny>,
        limits: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        guard(|| {
            let engine = value::from_python(engine)?;
            let catalog = list(value::from_python(catalog)?);
            let sandbox = value::from_python(sandbox)?;
            let limits = value::map_from_python(limits)?;
            let session = HostProgramSession::open(&engine, catalog, sandbox, limits).or_raise()?;
            Ok(Self(session))
        })
    }

    /// A job: `"execute"`, `"wait"`, `"stop"` or `"close"` with its input.
    fn operate(&self, operation: &str, input: &Bound<'_, PyDict>) -> PyResult<Job> {
        guard(|| {
            let input = Value::Object(value::map_from_python(input)?);
            Ok(Job::wrap(self.0.operate(operation, input).or_raise()?))
        })
    }

    /// Readable while calls wait.
    #[getter]
    fn fd(&self) -> RawFd {
        self.0.fd()
    }

    /// Calls that wait, and ids of those that were given up, as a run has them.
    fn drain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        guard(|| {
            let list = PyList::empty(py);
            for item in self.0.drain() {
                match item {
                    little_ghost::host::Item::Call(call) => {
                        list.append(call_to_python(py, &call)?)?
                    }
                    little_ghost::host::Item::Cancelled(id) => list.append((CANCELLED, id))?,
                    _ => {}
                }
            }
            Ok(list)
        })
    }

    /// Answers a call with `{"value": ...}` or `{"error": text}`.
    fn complete(&self, id: u64, answer: &Bound<'_, PyAny>) -> PyResult<()> {
        guard(|| {
            self.0.complete(id, Ok(value::from_python(answer)?));
            Ok(())
        })
    }

    /// Answers a call with a failure, which ends the program.
    fn fail(&self, id: u64, failure: Failure) -> PyResult<()> {
        guard(|| {
            self.0.complete(id, Err(host_failure(failure)));
            Ok(())
        })
    }
}

pub(crate) fn list(value: Value) -> Vec<Value> {
    match value {
        Value::Array(list) => list,
        _ => Vec::new(),
    }
}
