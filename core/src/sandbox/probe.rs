//! Whether a sandbox can be used here.

use serde_json::{Value, json};

use super::capabilities::Capabilities;
use crate::error::Error;

/// Whether a kind of sandbox can be used here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Whether it can.
    pub available: bool,
    /// Why it cannot.
    pub reason: Option<String>,
    /// What it offers where it can be used.
    pub capabilities: Capabilities,
}

impl Probe {
    /// The outcome of a look that ended with `problem`, or without one.
    #[must_use]
    pub fn of(capabilities: Capabilities, problem: Option<Error>) -> Self {
        Self {
            available: problem.is_none(),
            reason: problem.map(|problem| problem.message().to_owned()),
            capabilities,
        }
    }

    /// `{available, reason, capabilities}`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({
            "available": self.available, "reason": self.reason,
            "capabilities": self.capabilities.to_value(),
        })
    }
}
