//! `Questions`, `NetworkAuthorizer`, `NetworkGateway` and `CommandWrapper`: code of the application that sandboxes ask.

use std::os::fd::RawFd;
use std::sync::Arc;

use little_ghost::host::{HostAuthorizer, HostCommandWrapper, HostGateway, HostQuestions};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;

use super::catalog::Job;
use super::run::{Failure, host_failure};
use super::sandbox::Workspace;
use crate::error::OrRaise as _;
use crate::guard::guard;
use crate::value;

/// A question of the engine, with the number that its answer names.
type Question<'py> = (u64, Bound<'py, PyAny>);

/// Questions of the engine that a thread of Python answers.
#[pyclass(frozen, module = "little_ghost._native")]
pub(crate) struct Questions {
    inner: Arc<HostQuestions>,
}

#[pymethods]
impl Questions {
    #[new]
    fn new() -> PyResult<Self> {
        guard(|| {
            let inner = HostQuestions::new().or_raise()?;
            Ok(Self { inner })
        })
    }

    #[getter]
    fn fd(&self) -> RawFd {
        self.inner.fd()
    }

    /// `[(id, question), ...]`; None at the end.
    fn drain<'py>(&self, py: Python<'py>) -> PyResult<Option<Vec<Question<'py>>>> {
        guard(|| {
            let Some(asked) = self.inner.drain() else {
                return Ok(None);
            };
            asked
                .into_iter()
                .map(|(id, question)| Ok((id, value::to_python(py, &question)?)))
                .collect::<PyResult<_>>()
                .map(Some)
        })
    }

    fn complete(&self, id: u64, answer: &Bound<'_, PyAny>) -> PyResult<()> {
        guard(|| {
            self.inner.complete(id, Ok(value::from_python(answer)?));
            Ok(())
        })
    }

    /// Answers with a failure `(kind, exception id, class name, message)`.
    fn fail(&self, id: u64, failure: Failure) -> PyResult<()> {
        guard(|| {
            self.inner.complete(id, Err(host_failure(failure)));
            Ok(())
        })
    }

    /// Asks again after `close`.
    fn reopen(&self) {
        self.inner.reopen();
    }

    /// Fails what is asked, until `reopen`.
    fn close(&self) {
        self.inner.close();
    }
}

/// Keeps an authorizer known under its key.
#[pyclass(frozen, module = "little_ghost._native")]
pub(crate) struct NetworkAuthorizer {
    _inner: HostAuthorizer,
}

#[pymethods]
impl NetworkAuthorizer {
    #[new]
    fn new(key: u64, questions: &Bound<'_, Questions>) -> PyResult<Self> {
        guard(|| {
            let questions = Arc::clone(&questions.get().inner);
            let _inner = HostAuthorizer::new(key, questions).or_raise()?;
            Ok(Self { _inner })
        })
    }
}

/// Keeps a command wrapper known under its key.
#[pyclass(frozen, module = "little_ghost._native")]
pub(crate) struct CommandWrapper {
    inner: HostCommandWrapper,
}

#[pymethods]
impl CommandWrapper {
    #[new]
    fn new(key: u64, questions: &Bound<'_, Questions>) -> PyResult<Self> {
        guard(|| {
            let questions = Arc::clone(&questions.get().inner);
            let inner = HostCommandWrapper::new(key, questions).or_raise()?;
            Ok(Self { inner })
        })
    }

    /// How the options of a sandbox name it.
    fn declaration<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        guard(|| value::to_python(py, &self.inner.declaration()))
    }
}

/// Keeps a gateway known under its key.
#[pyclass(frozen, module = "little_ghost._native")]
pub(crate) struct NetworkGateway {
    inner: HostGateway,
}

#[pymethods]
impl NetworkGateway {
    /// A gateway of the engine that a policy declares. Questions come before each program.
    #[staticmethod]
    fn declared(
        key: u64,
        policy: &Bound<'_, PyDict>,
        options: &Bound<'_, PyDict>,
        workspace: Option<&Bound<'_, Workspace>>,
        questions: Option<&Bound<'_, Questions>>,
    ) -> PyResult<Self> {
        guard(|| {
            let policy = Value::Object(value::map_from_python(policy)?);
            let options = value::map_from_python(options)?;
            let workspace = workspace.map(|workspace| workspace.get().workspace());
            let questions = questions.map(|questions| Arc::clone(&questions.get().inner));
            let inner =
                HostGateway::declared(key, &policy, &options, workspace, questions).or_raise()?;
            Ok(Self { inner })
        })
    }

    #[staticmethod]
    fn own(key: u64, questions: &Bound<'_, Questions>) -> PyResult<Self> {
        guard(|| {
            let questions = Arc::clone(&questions.get().inner);
            let inner = HostGateway::own(key, questions).or_raise()?;
            Ok(Self { inner })
        })
    }

    fn description<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        guard(|| value::to_python(py, &self.inner.description()))
    }

    fn open(&self) -> PyResult<Job> {
        guard(|| Ok(Job::wrap(self.inner.open().or_raise()?)))
    }

    fn close(&self) -> PyResult<Job> {
        guard(|| Ok(Job::wrap(self.inner.close().or_raise()?)))
    }

    fn validate(&self) -> PyResult<Job> {
        guard(|| Ok(Job::wrap(self.inner.validate().or_raise()?)))
    }
}
