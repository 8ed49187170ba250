//! `SessionStore`, and the `StoreCall` that one of its operations is.

use std::os::fd::RawFd;
use std::path::PathBuf;

use little_ghost::host::{self, HostStore};
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;

use crate::error::OrRaise as _;
use crate::guard::guard;
use crate::value;

/// One of the engine's session stores.
#[pyclass(frozen, module = "little_ghost._native")]
pub(crate) struct SessionStore {
    pub(crate) inner: HostStore,
}

/// One operation of a store, and the lock that it may have come to. Dropping it lets both go.
#[pyclass(frozen, module = "little_ghost._native")]
pub(crate) struct StoreCall {
    inner: Mutex<Option<host::StoreCall>>,
}

impl StoreCall {
    fn wrap(call: host::StoreCall) -> Self {
        Self {
            inner: Mutex::new(Some(call)),
        }
    }
}

#[pymethods]
impl SessionStore {
    #[staticmethod]
    fn memory() -> PyResult<Self> {
        guard(|| {
            Ok(Self {
                inner: HostStore::memory(),
            })
        })
    }

    #[staticmethod]
    fn filesystem(root: PathBuf) -> PyResult<Self> {
        guard(|| {
            let inner = HostStore::filesystem(&root).or_raise()?;
            Ok(Self { inner })
        })
    }

    fn load(&self, id: String, actor_id: Option<String>) -> PyResult<StoreCall> {
        guard(|| {
            self.inner
                .load(id, actor_id)
                .or_raise()
                .map(StoreCall::wrap)
        })
    }

    fn append(
        &self,
        id: String,
        actor_id: Option<String>,
        snapshot: &Bound<'_, PyDict>,
        expected_count: usize,
    ) -> PyResult<StoreCall> {
        guard(|| {
            let snapshot = Value::Object(value::map_from_python(snapshot)?);
            self.inner
                .append(id, actor_id, &snapshot, expected_count)
                .or_raise()
                .map(StoreCall::wrap)
        })
    }

    fn replace(
        &self,
        id: String,
        actor_id: Option<String>,
        snapshot: &Bound<'_, PyDict>,
    ) -> PyResult<StoreCall> {
        guard(|| {
            let snapshot = Value::Object(value::map_from_python(snapshot)?);
            self.inner
                .replace(id, actor_id, &snapshot)
                .or_raise()
                .map(StoreCall::wrap)
        })
    }

    fn synchronize(&self, id: String, actor_id: Option<String>) -> PyResult<StoreCall> {
        guard(|| {
            self.inner
                .synchronize(id, actor_id)
                .or_raise()
                .map(StoreCall::wrap)
        })
    }
}

#[pymethods]
impl StoreCall {
    /// The descriptor to wait for, or None when the call is over.
    #[getter]
    fn fd(&self) -> Option<RawFd> {
        self.inner.lock().as_ref().and_then(host::StoreCall::fd)
    }

    /// `(value,)` of a call that is over, or None.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<Option<(Bound<'py, PyAny>,)>> {
        guard(|| {
            let taken = match &*self.inner.lock() {
                Some(call) => call.take().or_raise()?,
                None => None,
            };
            match taken {
                Some(taken) => Ok(Some((value::to_python(py, &taken)?,))),
                None => Ok(None),
            }
        })
    }

    /// Lets the descriptor and the lock go.
    fn release(&self) -> PyResult<()> {
        guard(|| {
            drop(self.inner.lock().take());
            Ok(())
        })
    }
}
