//! The test kit's `ScriptedModel`, `Cassette` and `Faults`.

use std::sync::Arc;

use little_ghost::host::{ModelRegistration, register_model};
use little_ghost::{Model, testing};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value;

use crate::error::OrRaise as _;
use crate::guard::guard;
use crate::value;

/// A model that follows a script, known to the engine by its number.
#[pyclass(frozen, module = "little_ghost._native")]
pub(crate) struct ScriptedModel {
    inner: testing::ScriptedModel,
    registration: ModelRegistration,
}

impl ScriptedModel {
    pub(crate) fn model(&self) -> Arc<dyn Model> {
        Arc::clone(self.registration.model())
    }
}

#[pymethods]
impl ScriptedModel {
    /// From `turns`, `repeat` and `capabilities`.
    #[new]
    fn new(script: &Bound<'_, PyDict>) -> PyResult<Self> {
        guard(|| {
            let script = Value::Object(value::map_from_python(script)?);
            let inner = testing::ScriptedModel::from_value(&script).or_raise()?;
            let registration = register_model(Arc::new(inner.clone())).or_raise()?;
            Ok(Self {
                inner,
                registration,
            })
        })
    }

    /// The number for an agent's answer.
    #[getter]
    fn id(&self) -> u64 {
        self.registration.id()
    }

    /// Every request so far, as data.
    fn requests<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        guard(|| {
            let list = PyList::empty(py);
            for request in self.inner.requests() {
                list.append(value::to_python(py, &request.to_value())?)?;
            }
            Ok(list)
        })
    }

    fn verify(&self) -> PyResult<()> {
        guard(|| self.inner.verify().or_raise())
    }
}

/// Recorded exchanges.
#[pyclass(frozen, module = "little_ghost._native")]
pub(crate) struct Cassette {
    pub(crate) inner: testing::Cassette,
}

#[pymethods]
impl Cassette {
    /// From `path`, `mode`, `scrub` and `ignore`.
    #[new]
    fn new(settings: &Bound<'_, PyDict>) -> PyResult<Self> {
        guard(|| {
            let settings = Value::Object(value::map_from_python(settings)?);
            let inner = testing::Cassette::from_value(&settings).or_raise()?;
            Ok(Self { inner })
        })
    }

    #[getter]
    fn recording(&self) -> bool {
        self.inner.is_recording()
    }

    fn finish(&self) -> PyResult<()> {
        guard(|| self.inner.finish().or_raise())
    }
}

/// Requests that go wrong.
#[pyclass(frozen, module = "little_ghost._native")]
pub(crate) struct Faults {
    pub(crate) inner: testing::Faults,
}

#[pymethods]
impl Faults {
    #[new]
    fn new(faults: &Bound<'_, PyList>) -> PyResult<Self> {
        guard(|| {
            let faults = value::from_python(faults.as_any())?;
            let inner = testing::Faults::from_value(&faults).or_raise()?;
            Ok(Self { inner })
        })
    }

    /// How many requests were sent.
    #[getter]
    fn requests(&self) -> usize {
        self.inner.requests()
    }

    fn verify(&self) -> PyResult<()> {
        guard(|| self.inner.verify().or_raise())
    }
}
