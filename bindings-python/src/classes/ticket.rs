//! `Ticket`: a claim to the answer of an interjection.

use std::os::fd::RawFd;

use little_ghost::host::HostTicket;
use pyo3::prelude::*;

use crate::error::OrRaise as _;
use crate::guard::guard;
use crate::value;

/// A claim to the answer of an interjection. Wait on `fd`, then take it.
#[pyclass(frozen, module = "little_ghost._native")]
pub(crate) struct Ticket {
    inner: HostTicket,
}

impl Ticket {
    pub(crate) fn wrap(inner: HostTicket) -> Self {
        Self { inner }
    }
}

#[pymethods]
impl Ticket {
    /// Readable once the answer is there. Owned by this object.
    #[getter]
    fn fd(&self) -> RawFd {
        self.inner.fd()
    }

    /// `{text, tool_calls, interjection_ids, batch_key}`, once; raises what kept it from coming.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        guard(|| value::to_python(py, &self.inner.take().or_raise()?.to_value()))
    }

    /// Stops waiting.
    fn withdraw(&self) -> PyResult<()> {
        guard(|| {
            self.inner.withdraw();
            Ok(())
        })
    }
}
