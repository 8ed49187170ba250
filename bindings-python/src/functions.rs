//! Functions of the module that belong to no class.

use little_ghost::catalog::ModelDetails;
use little_ghost::{Error, ErrorKind, host};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;

use crate::classes::{Failure, host_failure};
use crate::error::OrRaise as _;
use crate::guard::guard;
use crate::value;

/// Every error kind as `(name, parent name or None)`, parents first.
#[pyfunction]
pub(crate) fn error_kinds() -> Vec<(&'static str, Option<&'static str>)> {
    ErrorKind::ALL
        .iter()
        .map(|kind| (kind.name(), kind.parent().map(ErrorKind::name)))
        .collect()
}

/// Raises unless the dict has what an agent may declare: `result_schema`, `context_management`,
/// `tool_loop`.
#[pyfunction]
pub(crate) fn check_agent(declared: &Bound<'_, PyAny>) -> PyResult<()> {
    guard(|| {
        let Value::Object(declared) = value::from_python(declared)? else {
            return Ok(());
        };
        host::check_agent(&declared).or_raise()
    })
}

/// Raises unless the dict describes a sound assembly. Returns the flowchart of a graph, else None.
#[pyfunction]
pub(crate) fn check_assembly(described: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    guard(|| host::check_assembly(&value::from_python(described)?).or_raise())
}

/// Raises `AssemblyLimitError` for an assembly that is inside of too many others.
#[pyfunction]
pub(crate) fn check_nesting(kind: &str, id: &str, depth: usize) -> PyResult<()> {
    guard(|| host::check_nesting(kind, id, depth).or_raise())
}

/// Raises `UnsupportedInputError` for attachments that the model with these details does not take.
#[pyfunction]
pub(crate) fn check_attachments(
    target: &str,
    messages: &Bound<'_, PyAny>,
    details: &Bound<'_, PyDict>,
) -> PyResult<()> {
    guard(|| {
        let details = ModelDetails::stated(target, value::map_from_python(details)?);
        host::check_attachments(&value::from_python(messages)?, &details).or_raise()
    })
}

/// A decision about a network request as a dict, checked and normalized.
#[pyfunction]
pub(crate) fn network_decision<'py>(decision: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
    guard(|| {
        let given = Value::Object(value::map_from_python(decision)?);
        let decided = host::network_decision(&given).or_raise()?;
        value::to_python(decision.py(), &decided)
    })
}

/// A network request as a dict, checked and normalized.
#[pyfunction]
pub(crate) fn network_request<'py>(request: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
    guard(|| {
        let given = Value::Object(value::map_from_python(request)?);
        let told = host::network_request(&given).or_raise()?;
        value::to_python(request.py(), &told)
    })
}

/// What a model reads when its arguments break the schema.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts owned values")]
pub(crate) fn tool_input_error_text(violations: Vec<String>) -> PyResult<String> {
    guard(|| Ok(host::tool_input_error_text(&violations)))
}

/// What a model reads about a failed call: never the message of an unexpected exception.
#[pyfunction]
pub(crate) fn tool_failure_text(failure: Failure) -> PyResult<String> {
    guard(|| Ok(host::tool_failure_text(&Error::from(host_failure(failure)))))
}

/// The text that a model reads for the value of a tool.
#[pyfunction]
pub(crate) fn tool_value_text(value: &Bound<'_, PyAny>) -> PyResult<String> {
    guard(|| Ok(host::tool_value_text(&value::from_python(value)?)))
}

/// The serialised messages that a session store may keep.
#[pyfunction]
pub(crate) fn persistable_messages<'py>(
    messages: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    guard(|| {
        let kept = host::persistable_messages(&value::from_python(messages)?).or_raise()?;
        value::to_python(messages.py(), &kept)
    })
}

/// What a session has to write, given what its store has and what it should have.
#[pyfunction]
pub(crate) fn plan_write<'py>(
    persisted: &Bound<'py, PyAny>,
    next: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    guard(|| {
        let persisted = value::from_python(persisted)?;
        let plan = host::plan_write(&persisted, &value::from_python(next)?).or_raise()?;
        value::to_python(next.py(), &plan)
    })
}

/// Cancels every live run of this process; for interpreter exit.
#[pyfunction]
pub(crate) fn cancel_all() -> PyResult<()> {
    guard(|| {
        host::cancel_all();
        Ok(())
    })
}

/// Forgets the parent's runtime and connections.
#[pyfunction]
pub(crate) fn after_fork_in_child() -> PyResult<()> {
    guard(|| {
        host::after_fork_in_child();
        Ok(())
    })
}

/// Panics inside the engine, so that a test can see what becomes of it.
#[pyfunction]
pub(crate) fn provoke_panic() -> PyResult<()> {
    guard(|| {
        host::provoke_panic();
        Ok(())
    })
}
