//! How a host starts a run.

use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};

/// How a host starts a run.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct HostStart {
    /// Whether somebody reads the events. Otherwise the host is woken only for calls and the end.
    pub events: bool,
    /// Names of the hooks that the application has: `"session_history"`, `"error_message"`.
    pub hooks: Vec<String>,
}

impl Default for HostStart {
    fn default() -> Self {
        Self {
            events: true,
            hooks: Vec::new(),
        }
    }
}

impl HostStart {
    /// Reads `{events, hooks}`, both optional.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for another shape.
    pub fn from_value(value: &Value) -> Result<Self> {
        let Value::Object(map) = value else {
            return Err(unusable("expected an object"));
        };
        let mut start = Self::default();
        match map.get("events") {
            None | Some(Value::Null) => {}
            Some(Value::Bool(events)) => start.events = *events,
            Some(_) => return Err(unusable("events must be true or false")),
        }
        match map.get("hooks") {
            None | Some(Value::Null) => {}
            Some(Value::Array(hooks)) => {
                start.hooks = hooks
                    .iter()
                    .map(|hook| hook.as_str().map(str::to_owned))
                    .collect::<Option<_>>()
                    .ok_or_else(|| unusable("hooks must be names"))?;
            }
            Some(_) => return Err(unusable("hooks must be an array")),
        }
        Ok(start)
    }

    pub(super) fn has_hook(&self, name: &str) -> bool {
        self.hooks.iter().any(|hook| hook == name)
    }
}

fn unusable(problem: &str) -> Error {
    Error::new(ErrorKind::Argument, format!("start of a run: {problem}"))
}
