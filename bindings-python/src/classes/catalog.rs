//! `Catalog`: facts about models, and `Job`: work that fetches them.

use std::os::fd::RawFd;
use std::sync::Arc;

use little_ghost::catalog::{MergeStrategy, ModelRecord};
use little_ghost::host::HostJob;
use little_ghost::{Error, ErrorKind};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::CancellationToken;
use crate::error::OrRaise as _;
use crate::guard::guard;
use crate::value;

/// Facts about models.
#[pyclass(frozen, module = "little_ghost._native")]
pub(crate) struct Catalog {
    inner: Arc<little_ghost::catalog::Catalog>,
}

impl Catalog {
    pub(super) fn wrap(inner: Arc<little_ghost::catalog::Catalog>) -> Self {
        Self { inner }
    }
}

#[pymethods]
impl Catalog {
    fn apply(
        &self,
        source: &str,
        records: &Bound<'_, PyAny>,
        strategies: &Bound<'_, PyDict>,
    ) -> PyResult<Vec<String>> {
        guard(|| {
            let records = value::from_python(records)?;
            let records = ModelRecord::list_from_value(source, &records).or_raise()?;
            let strategies = value::map_from_python(strategies)?
                .iter()
                .map(|(attribute, name)| {
                    let name = name.as_str().unwrap_or_default();
                    Ok((
                        attribute.clone(),
                        MergeStrategy::from_name(attribute, name)?,
                    ))
                })
                .collect::<Result<Vec<_>, Error>>()
                .or_raise()?;
            self.inner.apply(source, records, &strategies).or_raise()
        })
    }
}

/// Work of the engine with one answer.
#[pyclass(frozen, module = "little_ghost._native")]
pub(crate) struct Job {
    inner: HostJob,
}

impl Job {
    pub(super) fn wrap(inner: HostJob) -> Self {
        Self { inner }
    }

    /// The answer, once.
    fn answer(&self) -> Result<Result<serde_json::Value, Error>, Error> {
        let missing = || Error::new(ErrorKind::Error, "there is no answer yet, or it was taken");
        self.inner.take().ok_or_else(missing)
    }
}

#[pymethods]
impl Job {
    #[staticmethod]
    fn models_dev(
        connections: Vec<(String, String)>,
        base_url: Option<&str>,
        target: Option<String>,
    ) -> PyResult<Self> {
        guard(|| {
            let inner = HostJob::models_dev(connections, base_url, target).or_raise()?;
            Ok(Self { inner })
        })
    }

    #[staticmethod]
    fn own_models(
        adapter: &str,
        connection: &str,
        options: &Bound<'_, PyDict>,
        target: Option<String>,
    ) -> PyResult<Self> {
        guard(|| {
            let options = value::map_from_python(options)?;
            let inner = HostJob::own_models(adapter, connection, &options, target).or_raise()?;
            Ok(Self { inner })
        })
    }

    #[getter]
    fn fd(&self) -> RawFd {
        self.inner.fd()
    }

    /// Ends the work when the token is cancelled, or at that time in Unix seconds.
    fn within(&self, token: &CancellationToken, deadline_at: Option<f64>) -> PyResult<()> {
        guard(|| self.inner.within(token.inner(), deadline_at).or_raise())
    }

    /// Ends the work without an answer.
    fn give_up(&self) {
        self.inner.give_up();
    }

    fn take<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        guard(|| value::to_python(py, &self.answer().or_raise()?.or_raise()?))
    }

    /// `(answer, None)`, or `(None, error)` with an error as data.
    fn outcome<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)> {
        guard(|| match self.answer().or_raise()? {
            Ok(answer) => Ok((value::to_python(py, &answer)?, None)),
            Err(error) => Ok((
                py.None().into_bound(py),
                Some(value::to_python(py, &error.to_value())?),
            )),
        })
    }
}
