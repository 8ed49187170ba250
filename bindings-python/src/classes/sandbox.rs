//! `Workspace`, `Sandbox` and `Process`: handles whose operations are jobs.

use std::sync::Arc;

use little_ghost::host::{self, ProcessHandle, SandboxHandle, WorkspaceHandle};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::catalog::Job;
use crate::error::OrRaise as _;
use crate::guard::guard;
use crate::value;

/// A workspace. Setup and teardown are up to Python.
#[pyclass(frozen, module = "little_ghost._native")]
pub(crate) struct Workspace {
    inner: WorkspaceHandle,
}

impl Workspace {
    pub(super) fn workspace(&self) -> &Arc<little_ghost::Workspace> {
        self.inner.workspace()
    }
}

#[pymethods]
impl Workspace {
    #[new]
    fn new(described: &Bound<'_, PyDict>) -> PyResult<Self> {
        guard(|| {
            let described = value::map_from_python(described)?;
            let inner = WorkspaceHandle::from_map(&described).or_raise()?;
            Ok(Self { inner })
        })
    }

    /// The workspace of that number, which somebody else keeps.
    #[staticmethod]
    fn adopt(id: u64) -> PyResult<Self> {
        guard(|| {
            let inner = WorkspaceHandle::adopt(id).or_raise()?;
            Ok(Self { inner })
        })
    }

    #[getter]
    fn id(&self) -> u64 {
        self.inner.id()
    }

    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        guard(|| value::to_python(py, &self.inner.info()))
    }

    fn resolve(&self, reference: &str) -> PyResult<String> {
        guard(|| self.inner.resolve(reference).or_raise())
    }

    fn reference(&self, physical: &str) -> PyResult<String> {
        guard(|| self.inner.reference(physical).or_raise())
    }

    fn validate(&self, py: Python<'_>) -> PyResult<()> {
        guard(|| py.detach(|| self.inner.validate()).or_raise())
    }

    fn begin_opening(&self) -> PyResult<Job> {
        guard(|| Ok(Job::wrap(self.inner.begin_opening().or_raise()?)))
    }

    fn record(&self) -> PyResult<Job> {
        guard(|| Ok(Job::wrap(self.inner.record().or_raise()?)))
    }

    fn give_up(&self) {
        self.inner.give_up();
    }

    fn cut_off(&self) {
        self.inner.cut_off();
    }

    fn begin_closing(&self) -> PyResult<Job> {
        guard(|| Ok(Job::wrap(self.inner.begin_closing().or_raise()?)))
    }
}

/// A sandbox of the engine, or a scope of one.
#[pyclass(frozen, module = "little_ghost._native")]
pub(crate) struct Sandbox {
    inner: SandboxHandle,
}

#[pymethods]
impl Sandbox {
    #[staticmethod]
    fn build(
        provider: &str,
        workspace: &Bound<'_, Workspace>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        guard(|| {
            let options = value::map_from_python(options)?;
            let workspace = &workspace.get().inner;
            let inner = SandboxHandle::build(provider, workspace, &options).or_raise()?;
            Ok(Self { inner })
        })
    }

    #[staticmethod]
    fn probe(provider: &str, options: &Bound<'_, PyDict>) -> PyResult<Job> {
        guard(|| {
            let options = value::map_from_python(options)?;
            Ok(Job::wrap(
                host::probe_sandbox(provider, &options).or_raise()?,
            ))
        })
    }

    #[staticmethod]
    fn tools(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        guard(|| value::to_python(py, &host::sandbox_tools()))
    }

    #[staticmethod]
    fn normalize<'py>(
        py: Python<'py>,
        kind: &str,
        given: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        guard(|| {
            let given = value::from_python(given)?;
            let normal = host::normalize_sandbox_value(kind, &given).or_raise()?;
            value::to_python(py, &normal)
        })
    }

    #[staticmethod]
    fn feature(name: &str) -> Option<&'static str> {
        host::sandbox_feature(name)
    }

    #[staticmethod]
    fn intersect<'py>(
        py: Python<'py>,
        one: &Bound<'py, PyAny>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        guard(|| {
            let (one, other) = (value::from_python(one)?, value::from_python(other)?);
            let both = host::intersect_capabilities(&one, &other).or_raise()?;
            value::to_python(py, &both)
        })
    }

    #[getter]
    fn id(&self) -> u64 {
        self.inner.id()
    }

    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        guard(|| value::to_python(py, &self.inner.info()))
    }

    fn scope(&self, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        guard(|| {
            let options = value::map_from_python(options)?;
            let inner = self.inner.scope(&options).or_raise()?;
            Ok(Self { inner })
        })
    }

    fn allows(&self, py: Python<'_>, operation: &str, path: Option<&str>) -> PyResult<bool> {
        guard(|| Ok(py.detach(|| self.inner.allows(operation, path))))
    }

    fn perform(&self, operation: &Bound<'_, PyDict>) -> PyResult<Job> {
        guard(|| {
            let operation = value::map_from_python(operation)?;
            Ok(Job::wrap(self.inner.perform(&operation).or_raise()?))
        })
    }

    fn process(&self, id: u64) -> PyResult<Option<Process>> {
        guard(|| Ok(self.inner.process(id).map(|inner| Process { inner })))
    }
}

/// A process in a sandbox. Dropping it ends the process.
#[pyclass(frozen, module = "little_ghost._native")]
pub(crate) struct Process {
    inner: ProcessHandle,
}

#[pymethods]
impl Process {
    #[getter]
    fn pid(&self) -> u32 {
        self.inner.pid()
    }

    fn perform(&self, operation: &Bound<'_, PyDict>) -> PyResult<Job> {
        guard(|| {
            let operation = value::map_from_python(operation)?;
            Ok(Job::wrap(self.inner.perform(&operation).or_raise()?))
        })
    }
}
