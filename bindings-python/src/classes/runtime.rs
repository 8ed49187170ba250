//! `Runtime`: configured connections and models.

use std::sync::Arc;

use little_ghost::RuntimeBuilder;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;

use super::catalog::Catalog;
use super::{Cassette, Faults, ScriptedModel};
use crate::error::OrRaise as _;
use crate::guard::guard;
use crate::value;

/// Connections and models of one configuration.
#[pyclass(frozen, module = "little_ghost._native")]
pub(crate) struct Runtime {
    inner: Arc<little_ghost::Runtime>,
}

impl Runtime {
    pub(crate) fn inner(&self) -> Arc<little_ghost::Runtime> {
        Arc::clone(&self.inner)
    }
}

impl Runtime {
    fn rebuilt(&self, change: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder) -> PyResult<Self> {
        guard(|| {
            let inner = change(self.inner.to_builder()).build().or_raise()?;
            Ok(Self { inner })
        })
    }
}

#[pymethods]
impl Runtime {
    #[new]
    fn new(configuration: &Bound<'_, PyDict>) -> PyResult<Self> {
        guard(|| {
            let configuration = Value::Object(value::map_from_python(configuration)?);
            let inner = little_ghost::Runtime::from_value(&configuration).or_raise()?;
            Ok(Self { inner })
        })
    }

    /// The same runtime with `model` for every agent.
    fn with_model(&self, model: &Bound<'_, ScriptedModel>) -> PyResult<Self> {
        let model = model.get().model();
        self.rebuilt(|builder| builder.model_override(model))
    }

    /// The same runtime with requests on a cassette.
    fn with_cassette(&self, cassette: &Bound<'_, Cassette>) -> PyResult<Self> {
        self.rebuilt(|builder| builder.cassette(&cassette.get().inner))
    }

    /// The same runtime with requests that go wrong.
    fn with_faults(&self, faults: &Bound<'_, Faults>) -> PyResult<Self> {
        self.rebuilt(|builder| builder.faults(&faults.get().inner))
    }

    fn describe<'py>(
        &self,
        selection: &Bound<'py, PyAny>,
        profiles: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        guard(|| {
            let py = selection.py();
            let selection = value::from_python(selection)?;
            let profiles = value::map_from_python(profiles)?;
            let described = self.inner.resolver().describe(&selection, &profiles);
            value::to_python(py, &described.or_raise()?.to_value())
        })
    }

    fn details<'py>(&self, py: Python<'py>, target: &str) -> PyResult<Bound<'py, PyAny>> {
        guard(|| {
            let details = self.inner.resolver().details(target).or_raise()?;
            value::to_python(py, &details.to_value())
        })
    }

    #[getter]
    fn catalog(&self) -> Catalog {
        Catalog::wrap(Arc::clone(self.inner.resolver().catalog()))
    }

    #[getter]
    fn default_model(&self) -> &str {
        self.inner.resolver().default_model()
    }

    #[getter]
    fn connections(&self) -> Vec<(&str, &str)> {
        self.inner.resolver().connections().collect()
    }
}
