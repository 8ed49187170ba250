//! Bounds of one invocation.

use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind, Result};

/// Bounds of one invocation, and default model settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Model calls. Default 100.
    pub max_turns: u32,
    /// Tool calls. Default 1,000.
    pub max_tool_calls: u32,
    /// Tokens of one tool result, at four bytes each; longer text loses its middle. Default 10,000.
    pub max_tool_result_tokens: usize,
    /// Settings of every model call, below the request's own. Default none.
    pub model_settings: Map<String, Value>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_turns: 100,
            max_tool_calls: 1_000,
            max_tool_result_tokens: 10_000,
            model_settings: Map::new(),
        }
    }
}

impl Limits {
    /// Reads `{max_turns, max_tool_calls, max_tool_result_tokens, model_settings}`; all optional.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for an unknown key or a count below one.
    pub fn from_map(map: &Map<String, Value>) -> Result<Self> {
        let mut limits = Self::default();
        for (key, value) in map {
            match key.as_str() {
                "max_turns" => limits.max_turns = count(key, value)?,
                "max_tool_calls" => limits.max_tool_calls = count(key, value)?,
                "max_tool_result_tokens" => {
                    limits.max_tool_result_tokens = count(key, value)? as usize;
                }
                "model_settings" => match value {
                    Value::Object(settings) => limits.model_settings = settings.clone(),
                    _ => return Err(invalid("model_settings must be an object".into())),
                },
                other => {
                    return Err(invalid(format!(
                        "unknown limit {other:?}; use max_turns, max_tool_calls, \
                         max_tool_result_tokens or model_settings"
                    )));
                }
            }
        }
        limits.check()
    }

    pub(crate) fn check(self) -> Result<Self> {
        for (name, value) in [
            ("max_turns", self.max_turns as usize),
            ("max_tool_calls", self.max_tool_calls as usize),
            ("max_tool_result_tokens", self.max_tool_result_tokens),
        ] {
            if value < 1 {
                return Err(invalid(format!("{name} must be at least 1")));
            }
        }
        Ok(self)
    }
}

fn count(key: &str, value: &Value) -> Result<u32> {
    let number = match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number
        .and_then(|number| u32::try_from(number).ok())
        .filter(|number| *number >= 1)
        .ok_or_else(|| {
            invalid(format!(
                "{key} must be a whole number of at least 1, got {value}"
            ))
        })
}

fn invalid(problem: String) -> Error {
    Error::new(ErrorKind::Argument, format!("limits: {problem}"))
}
