//! `CancellationToken`: public in Python, so its documentation is here.

use pyo3::prelude::*;

use crate::guard::guard;

/// A switch that stops work cooperatively, from any thread.
///
/// Pass one to several runs to stop them together; a tool reads its own from
/// `context.cancellation_token`. Once cancelled, a token stays cancelled.
#[pyclass(frozen, module = "little_ghost")]
pub(crate) struct CancellationToken {
    inner: little_ghost::CancellationToken,
}

impl CancellationToken {
    pub(crate) fn wrap(inner: little_ghost::CancellationToken) -> Self {
        Self { inner }
    }

    pub(crate) fn inner(&self) -> little_ghost::CancellationToken {
        self.inner.clone()
    }
}

#[pymethods]
impl CancellationToken {
    #[new]
    fn new() -> Self {
        Self::wrap(little_ghost::CancellationToken::new())
    }

    /// Cancels this token and its children. Doing it again changes nothing.
    fn cancel(&self) -> PyResult<()> {
        guard(|| {
            self.inner.cancel();
            Ok(())
        })
    }

    /// Whether this token or a parent of it was cancelled.
    #[getter]
    fn cancelled(&self) -> bool {
        self.inner.is_cancelled()
    }

    /// A token that is cancelled with this one, or on its own.
    fn child(&self) -> Self {
        Self::wrap(self.inner.child_token())
    }

    fn __repr__(&self) -> String {
        let state = if self.inner.is_cancelled() {
            "cancelled"
        } else {
            "active"
        };
        format!("<CancellationToken {state}>")
    }
}
