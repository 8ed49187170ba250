//! `Runtime`: configured connections and models.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;

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
}
