//! `ContentCapture`: content of requests in a form that telemetry may have.

use little_ghost::support::{ContentCapture as Policy, DiagnosticKind};
use pyo3::prelude::*;

use crate::error::OrRaise as _;
use crate::guard::guard;
use crate::value;

/// An enabled policy.
#[pyclass(frozen, module = "little_ghost._native")]
pub(crate) struct ContentCapture {
    inner: Policy,
}

#[pymethods]
impl ContentCapture {
    #[new]
    fn new(max_bytes: Option<usize>, redactions: Vec<String>) -> PyResult<Self> {
        guard(|| {
            let mut inner = Policy::enabled().with_redactions(redactions);
            if let Some(max_bytes) = max_bytes {
                inner = inner.with_max_bytes(max_bytes).or_raise()?;
            }
            Ok(Self { inner })
        })
    }

    /// The value without secrets and bytes of attachments.
    fn redact<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        guard(|| {
            let redacted = self.inner.redact(&value::from_python(value)?);
            value::to_python(value.py(), &redacted)
        })
    }

    /// The text for a value of a kind; None for a kind that there is not.
    fn capture(&self, kind: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        guard(|| {
            let kind = DiagnosticKind::ALL
                .into_iter()
                .find(|candidate| candidate.as_str() == kind);
            let Some(kind) = kind else { return Ok(None) };
            Ok(self.inner.capture(kind, &value::from_python(value)?))
        })
    }
}
