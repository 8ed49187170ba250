//! What may be done with files.

use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::message::kind_of;

/// What may be done below a named path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Access {
    /// Files can be read and listed.
    ReadOnly,
    /// Files can be changed too.
    ReadWrite,
}

impl Access {
    /// The name in declarations: `"read_only"` or `"read_write"`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Access::ReadOnly => "read_only",
            Access::ReadWrite => "read_write",
        }
    }

    /// The access of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Access::ReadOnly, Access::ReadWrite]
            .into_iter()
            .find(|access| access.as_str() == name)
    }

    pub(super) fn from_value(of: &str, value: &Value) -> Result<Self> {
        value.as_str().and_then(Self::from_name).ok_or_else(|| {
            invalid(format!(
                "the access of {of} must be read_only or read_write, got {}",
                said(value)
            ))
        })
    }
}

/// What a child process sees of the host beyond the paths of the workspace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RootFilesystem {
    /// Declared paths, and what programs need to run.
    #[default]
    Isolated,
    /// Everything, without writing to it.
    ReadOnly,
    /// Everything.
    ReadWrite,
}

impl RootFilesystem {
    /// The name in declarations: `"isolated"`, `"read_only"` or `"read_write"`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            RootFilesystem::Isolated => "isolated",
            RootFilesystem::ReadOnly => "read_only",
            RootFilesystem::ReadWrite => "read_write",
        }
    }

    pub(super) fn from_value(value: &Value) -> Result<Self> {
        let all = [Self::Isolated, Self::ReadOnly, Self::ReadWrite];
        let named = |name: &str| all.into_iter().find(|root| root.as_str() == name);
        value.as_str().and_then(named).ok_or_else(|| {
            invalid(format!(
                "root_filesystem must be isolated, read_only or read_write, got {}",
                said(value)
            ))
        })
    }
}

/// What was said in place of something better: a short text as it is, of all else only its kind.
pub(super) fn said(value: &Value) -> String {
    match value {
        Value::String(text) if text.len() <= 64 => format!("{text:?}"),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        other => kind_of(other).to_owned(),
    }
}

pub(super) fn invalid(problem: String) -> Error {
    Error::new(ErrorKind::Policy, format!("sandbox policy: {problem}"))
}
