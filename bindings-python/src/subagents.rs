//! Functions about paths of agents, and about where their conversations are kept.

use little_ghost::host::{self, agent_path, subagent_session};
use pyo3::prelude::*;
use serde_json::Value;

use crate::classes::list;
use crate::error::OrRaise as _;
use crate::guard::guard;
use crate::value;

/// Raises `ValueError` for unusable bounds of subagents.
#[pyfunction]
pub(crate) fn check_subagent_limits(limits: &Bound<'_, PyAny>) -> PyResult<()> {
    guard(|| match value::from_python(limits)? {
        Value::Object(limits) => host::check_subagent_limits(&limits).or_raise(),
        _ => Ok(()),
    })
}

/// The specifications of the tools for kinds of subagents, `{kind, description}`.
#[pyfunction]
pub(crate) fn subagent_tools<'py>(kinds: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    guard(|| {
        let listed = list(value::from_python(kinds)?);
        value::to_python(kinds.py(), &host::subagent_tools(&listed).or_raise()?)
    })
}

/// Raises `ValueError` for what is no path of an agent.
#[pyfunction]
pub(crate) fn check_agent_path(path: &str) -> PyResult<()> {
    guard(|| agent_path::check(path).or_raise())
}

/// Raises `ValueError` for what is no name of a task.
#[pyfunction]
pub(crate) fn check_task_name(name: &str) -> PyResult<()> {
    guard(|| agent_path::check_name(name).or_raise())
}

/// The path of a task below another path.
#[pyfunction]
pub(crate) fn join_agent_path(parent: &str, name: &str) -> PyResult<String> {
    guard(|| agent_path::join(parent, name).or_raise())
}

/// Whether a path is exactly one level below another.
#[pyfunction]
pub(crate) fn is_immediate_child(path: &str, parent: &str) -> bool {
    agent_path::is_immediate_child(path, parent)
}

/// The pseudonym of a session that subagents belong to.
#[pyfunction]
pub(crate) fn parent_link(session_id: &str, actor_id: Option<&str>) -> String {
    subagent_session::parent_link(session_id, actor_id)
}

/// The session with the registry of what belongs to a session.
#[pyfunction]
pub(crate) fn registry_session_id(session_id: &str, actor_id: Option<&str>) -> String {
    subagent_session::registry(session_id, actor_id)
}

/// The session with the transcript of a conversation.
#[pyfunction]
pub(crate) fn conversation_session_id(conversation_id: &str) -> String {
    subagent_session::conversation(conversation_id)
}

/// One of the two sessions with a committed state of a conversation.
#[pyfunction]
pub(crate) fn commit_session_id(conversation_id: &str, slot: u8) -> String {
    subagent_session::commit(conversation_id, slot)
}
