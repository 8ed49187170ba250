//! Functions about the catalogs and frames of code mode.

use little_ghost::code_mode::protocol;
use little_ghost::host;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::Value;

use crate::classes::list;
use crate::error::OrRaise as _;
use crate::guard::guard;
use crate::value;

/// The definitions of a catalog whose tools have these names.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts owned values")]
pub(crate) fn code_mode_catalog<'py>(
    specifications: &Bound<'py, PyAny>,
    names: Vec<String>,
    reserved: Vec<String>,
) -> PyResult<Bound<'py, PyAny>> {
    guard(|| {
        let listed = list(value::from_python(specifications)?);
        let catalog = host::code_mode_catalog(listed, names, &reserved).or_raise()?;
        value::to_python(specifications.py(), &catalog)
    })
}

/// `{instructions, names}` of a built-in engine.
#[pyfunction]
pub(crate) fn code_mode_instructions<'py>(
    engine: &Bound<'py, PyAny>,
    catalog: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    guard(|| {
        let listed = list(value::from_python(catalog)?);
        let described = value::from_python(engine)?;
        let written = host::code_mode_instructions(&described, &listed).or_raise()?;
        value::to_python(engine.py(), &written)
    })
}

/// The limits of a built-in engine, with their defaults.
#[pyfunction]
pub(crate) fn code_mode_limits<'py>(
    py: Python<'py>,
    language: &str,
) -> PyResult<Bound<'py, PyAny>> {
    guard(|| {
        let limits = Value::Object(host::code_mode_limits(language).or_raise()?);
        value::to_python(py, &limits)
    })
}

/// Raises for what is wrong with a declaration.
#[pyfunction]
pub(crate) fn code_mode_check(declaration: &Bound<'_, PyAny>) -> PyResult<()> {
    guard(|| host::code_mode_check(&value::from_python(declaration)?).or_raise())
}

/// One frame.
#[pyfunction]
pub(crate) fn code_mode_dump<'py>(content: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    guard(|| {
        let frame = protocol::dump(&value::from_python(content)?).or_raise()?;
        Ok(PyBytes::new(content.py(), &frame))
    })
}

/// `(value, length)` of the first frame, or None while bytes are missing.
#[pyfunction]
pub(crate) fn code_mode_extract<'py>(
    py: Python<'py>,
    buffer: &[u8],
) -> PyResult<Option<(Bound<'py, PyAny>, usize)>> {
    guard(|| match protocol::extract(buffer).or_raise()? {
        Some((frame, length)) => Ok(Some((value::to_python(py, &frame)?, length))),
        None => Ok(None),
    })
}
