//! When repeated calls are a loop.

use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::message::kind_of;

/// Stops an agent that repeats a tool call without getting anywhere.
///
/// Calls are the same when their tool, their input, the status and the content of their result are. A
/// changed result starts the count anew. The model is warned twice; then the call is not run
/// any more, and the run fails with [`ErrorKind::ToolLoop`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "it does nothing until an agent has it"]
pub struct ToolLoop {
    pub(super) warning_at: u32,
    pub(super) terminate_at: u32,
    except: Vec<String>,
}

impl Default for ToolLoop {
    fn default() -> Self {
        Self {
            warning_at: 3,
            terminate_at: 5,
            except: Vec::new(),
        }
    }
}

impl ToolLoop {
    /// Same calls before the model is warned; at least 2. Default 3.
    pub fn warning_at(mut self, count: u32) -> Self {
        self.warning_at = count;
        self
    }

    /// Same calls before the run fails; more than `warning_at`. Default 5. The call before is
    /// answered with the last warning.
    pub fn terminate_at(mut self, count: u32) -> Self {
        self.terminate_at = count;
        self
    }

    /// Names of tools that may be repeated.
    pub fn except(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.except.extend(tools.into_iter().map(Into::into));
        self
    }

    /// Reads `{warning_at?, terminate_at?, except?}`.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for an unknown key or a number out of range.
    pub fn from_value(value: &Value) -> Result<Self> {
        let Value::Object(map) = value else {
            return Err(invalid(format!(
                "must be an object, not {}",
                kind_of(value)
            )));
        };
        let mut options = Self::default();
        for (key, value) in map {
            match (key.as_str(), value) {
                ("warning_at", value) => options.warning_at = count(key, value)?,
                ("terminate_at", value) => options.terminate_at = count(key, value)?,
                ("except", Value::Array(names)) if names.iter().all(Value::is_string) => {
                    options.except = names
                        .iter()
                        .filter_map(Value::as_str)
                        .map(str::to_owned)
                        .collect();
                }
                ("except", _) => return Err(invalid("except must be a list of tool names")),
                (other, _) => {
                    return Err(invalid(format!(
                        "unknown option {other:?}; use warning_at, terminate_at or except"
                    )));
                }
            }
        }
        options.check()
    }

    /// Whether calls of `tool` are counted.
    pub(super) fn watches(&self, tool: &str) -> bool {
        !self.except.iter().any(|name| name == tool)
    }

    /// The options, when they make sense.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] unless `warning_at` is at least 2 and `terminate_at` is greater.
    pub fn check(self) -> Result<Self> {
        if self.warning_at < 2 {
            return Err(invalid("warning_at must be at least 2"));
        }
        if self.terminate_at <= self.warning_at {
            return Err(invalid("terminate_at must be greater than warning_at"));
        }
        Ok(self)
    }
}

fn count(key: &str, value: &Value) -> Result<u32> {
    value
        .as_u64()
        .and_then(|count| u32::try_from(count).ok())
        .ok_or_else(|| invalid(format!("{key} must be a whole number, not {value}")))
}

fn invalid(problem: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorKind::Argument,
        format!("tool loop detection: {problem}"),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn options_are_checked() {
        for bad in [
            json!({"warning_at": 1}),
            json!({"warning_at": 5}),
            json!({"terminate_at": 3}),
            json!({"warning_at": 2.5}),
            json!({"except": "lookup"}),
            json!({"limit": 1}),
        ] {
            assert_eq!(
                ToolLoop::from_value(&bad).unwrap_err().kind(),
                ErrorKind::Argument,
                "{bad}"
            );
        }
        let options = ToolLoop::from_value(&json!({"except": ["a"], "terminate_at": 4})).unwrap();
        assert_eq!(options, ToolLoop::default().terminate_at(4).except(["a"]));
    }
}
