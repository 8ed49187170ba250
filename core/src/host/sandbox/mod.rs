//! Workspaces and sandboxes, as hosts use them: handles whose operations are jobs, and the sandboxes that
//! an application has itself.

mod application;
mod command_wrapper;
mod handle;
mod plain;
mod process;
mod program;
mod table;
#[cfg(test)]
mod tests;
mod workspace;

use serde_json::{Map, Value};

pub(super) use application::{premises, sandbox_of};
pub use command_wrapper::HostCommandWrapper;
pub use handle::SandboxHandle;
pub use plain::start_process;
pub use process::ProcessHandle;
pub use workspace::WorkspaceHandle;
pub(super) use workspace::lend_workspace;

use super::HostJob;
use crate::error::{Error, ErrorKind, Result};
use crate::sandbox::{
    self, Capabilities, EnvironmentPolicy, Feature, Limits, NetworkPolicy, Policy, ScopeOptions,
};
use crate::tools::Operation;

/// The value in its one form: a `"policy"`, `"environment"`, `"network"`, `"limits"` or `"capabilities"`.
///
/// # Errors
/// [`Policy`](ErrorKind::Policy) and [`Argument`](ErrorKind::Argument) for an unusable value.
pub fn normalize_sandbox_value(kind: &str, value: &Value) -> Result<Value> {
    match (kind, value) {
        ("policy", value) => Ok(Policy::from_value(value)?.to_value()),
        ("environment", value) => Ok(EnvironmentPolicy::from_value(value)?.to_value()),
        ("network", value) => Ok(NetworkPolicy::from_value(value)?.to_value()),
        ("limits", Value::Object(limits)) => Ok(Limits::from_map(limits)?.to_value()),
        ("limits", Value::Null) => Ok(Limits::default().to_value()),
        ("capabilities", value) => Ok(Capabilities::from_value(value)?.to_value()),
        ("scope", value) => ScopeOptions::from_value(value).map(|_| value.clone()),
        _ => Err(Error::new(
            ErrorKind::Argument,
            format!("{kind} cannot be made of this value"),
        )),
    }
}

/// The full name of a feature, given that or its short one.
#[must_use]
pub fn sandbox_feature(name: &str) -> Option<&'static str> {
    Feature::from_name(name).map(Feature::as_str)
}

/// What both `one` and `other`, which are capabilities, have.
///
/// # Errors
/// [`Argument`](ErrorKind::Argument) for values that are none.
pub fn intersect_capabilities(one: &Value, other: &Value) -> Result<Value> {
    let (one, other) = (
        Capabilities::from_value(one)?,
        Capabilities::from_value(other)?,
    );
    Ok(one.intersect(&other).to_value())
}

/// Starts to look whether the sandbox of that name can be used: `{available, reason, capabilities}`.
///
/// # Errors
/// As [`HostJob::start`]; the answer has those of [`sandbox::probe`].
pub fn probe_sandbox(name: &str, options: &Map<String, Value>) -> Result<HostJob> {
    let (name, options) = (name.to_owned(), options.clone());
    HostJob::start(async move { Ok(sandbox::probe(&name, &options).await?.to_value()) })
}

/// The tools that work in sandboxes: `{name, description, input_schema}` each.
#[must_use]
pub fn sandbox_tools() -> Value {
    Operation::ALL
        .into_iter()
        .map(Operation::to_value)
        .collect()
}
