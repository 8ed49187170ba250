//! `ToolDefinition`: a checked tool declaration.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::OrRaise as _;
use crate::guard::guard;
use crate::value;

/// Name, description and schema of a tool, checked when it is made.
#[pyclass(frozen, module = "little_ghost._native")]
pub(crate) struct ToolDefinition {
    inner: little_ghost::ToolDefinition,
}

#[pymethods]
impl ToolDefinition {
    #[new]
    fn new(name: &str, description: &str, input_schema: &Bound<'_, PyAny>) -> PyResult<Self> {
        guard(|| {
            let schema = value::from_python(input_schema)?;
            let inner = little_ghost::ToolDefinition::new(name, description, schema).or_raise()?;
            Ok(Self { inner })
        })
    }

    /// Every violation of the schema, each starting with a path such as `$.name`.
    fn violations(&self, input: &Bound<'_, PyDict>) -> PyResult<Vec<String>> {
        guard(|| Ok(self.inner.violations(&value::map_from_python(input)?)))
    }
}
