//! Errors of the engine as exceptions of `little_ghost.errors`.

use little_ghost::Error;
use pyo3::prelude::*;
use pyo3::types::PyAny;

use crate::value;

/// Builds the exception for `error`.
///
/// The classes live in Python, where their documentation is. They are looked up by each use: an
/// error is rare, and nothing of Python has to be kept.
pub(crate) fn to_python(error: &Error) -> PyErr {
    Python::attach(|py| exception(py, error).map_or_else(|problem| problem, PyErr::from_value))
}

fn exception<'py>(py: Python<'py>, error: &Error) -> PyResult<Bound<'py, PyAny>> {
    py.import("little_ghost.errors")?
        .getattr("error_from_value")?
        .call1((value::to_python(py, &error.to_value())?,))
}

/// Lets `?` be used on the engine's results.
pub(crate) trait OrRaise<T> {
    fn or_raise(self) -> PyResult<T>;
}

impl<T> OrRaise<T> for Result<T, Error> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| to_python(&error))
    }
}
