//! `Redactor`: takes secrets out of text.

use little_ghost::support;
use pyo3::prelude::*;

use crate::guard::guard;

/// Knows what secrets look like, and some literals.
#[pyclass(frozen, module = "little_ghost._native")]
pub(crate) struct Redactor {
    inner: support::Redactor,
}

#[pymethods]
impl Redactor {
    #[new]
    fn new(literals: Vec<String>) -> PyResult<Self> {
        guard(|| {
            Ok(Self {
                inner: support::Redactor::new(literals),
            })
        })
    }

    /// The text without secrets.
    fn scrub(&self, text: &str) -> PyResult<String> {
        guard(|| Ok(self.inner.scrub(text).into_owned()))
    }
}
