//! Bounds of the subagents of one agent.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::error::{Error, ErrorKind, Result};

/// Bounds of the subagents that one agent has in one run.
#[derive(Clone, Debug, PartialEq)]
pub struct SubagentLimits {
    /// Turns that work at the same time; others wait. Default 8.
    pub max_concurrent: usize,
    /// New subagents. Default 20.
    pub max_identities: usize,
    /// Turns of all subagents together. Default 100.
    pub max_turns: usize,
    /// Messages that wait for one subagent, and interjections into one turn. Default 8.
    pub max_queued_turns_per_identity: usize,
    /// Characters of one task or message, and of all interjections into one turn. Default 50,000.
    pub max_message_chars: usize,
    /// Characters of a response that the asking model reads. A longer text is cut; a longer structured
    /// result fails the turn. Default 100,000.
    pub max_response_chars: usize,
    /// How long `wait_for_subagents` watches before it says that they still work. Default 30 seconds.
    pub wait_timeout: Duration,
    /// How long subagents have to stop at the end: half of it to stop by themselves. Default 5 seconds.
    pub close_timeout: Duration,
}

impl Default for SubagentLimits {
    fn default() -> Self {
        Self {
            max_concurrent: 8,
            max_identities: 20,
            max_turns: 100,
            max_queued_turns_per_identity: 8,
            max_message_chars: 50_000,
            max_response_chars: 100_000,
            wait_timeout: Duration::from_secs(30),
            close_timeout: Duration::from_secs(5),
        }
    }
}

impl SubagentLimits {
    /// Reads an object with any of the fields; times in seconds.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for an unknown key or a value out of range.
    pub fn from_map(map: &Map<String, Value>) -> Result<Self> {
        let mut limits = Self::default();
        for (key, value) in map.iter().filter(|(_, value)| !value.is_null()) {
            match key.as_str() {
                "max_concurrent" => limits.max_concurrent = count(key, value)?,
                "max_identities" => limits.max_identities = count(key, value)?,
                "max_turns" => limits.max_turns = count(key, value)?,
                "max_queued_turns_per_identity" => {
                    limits.max_queued_turns_per_identity = count(key, value)?;
                }
                "max_message_chars" => limits.max_message_chars = count(key, value)?,
                "max_response_chars" => limits.max_response_chars = count(key, value)?,
                "wait_timeout" => limits.wait_timeout = seconds(key, value)?,
                "close_timeout" => limits.close_timeout = seconds(key, value)?,
                other => return Err(invalid(format!("there is no limit {other:?}"))),
            }
        }
        limits.check()
    }

    /// What [`from_map`](Self::from_map) reads.
    pub(crate) fn to_value(&self) -> Value {
        json!({
            "max_concurrent": self.max_concurrent, "max_identities": self.max_identities,
            "max_turns": self.max_turns,
            "max_queued_turns_per_identity": self.max_queued_turns_per_identity,
            "max_message_chars": self.max_message_chars,
            "max_response_chars": self.max_response_chars,
            "wait_timeout": self.wait_timeout.as_secs_f64(),
            "close_timeout": self.close_timeout.as_secs_f64(),
        })
    }

    pub(crate) fn check(self) -> Result<Self> {
        for (name, value) in [
            ("max_concurrent", self.max_concurrent),
            ("max_identities", self.max_identities),
            ("max_turns", self.max_turns),
            (
                "max_queued_turns_per_identity",
                self.max_queued_turns_per_identity,
            ),
            ("max_message_chars", self.max_message_chars),
            ("max_response_chars", self.max_response_chars),
        ] {
            if value < 1 {
                return Err(invalid(format!("{name} must be at least 1")));
            }
        }
        for (name, value) in [
            ("wait_timeout", self.wait_timeout),
            ("close_timeout", self.close_timeout),
        ] {
            if value.is_zero() {
                return Err(invalid(format!("{name} must be more than 0 seconds")));
            }
        }
        Ok(self)
    }
}

fn count(key: &str, value: &Value) -> Result<usize> {
    value
        .as_u64()
        .and_then(|number| usize::try_from(number).ok())
        .ok_or_else(|| {
            invalid(format!(
                "{key} must be a whole number of at least 1, got {value}"
            ))
        })
}

fn seconds(key: &str, value: &Value) -> Result<Duration> {
    value
        .as_f64()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| {
            invalid(format!(
                "{key} must be a number of seconds above 0, got {value}"
            ))
        })
}

fn invalid(problem: String) -> Error {
    Error::new(ErrorKind::Argument, format!("subagents: {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_makes_no_sense() {
        for map in [
            json!({"max_concurrent": 0}),
            json!({"max_turns": 1.5}),
            json!({"wait_timeout": 0}),
            json!({"wait_timeout": -1}),
            json!({"close_timeout": "5"}),
            json!({"max_children": 3}),
        ] {
            let error = SubagentLimits::from_map(map.as_object().unwrap()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Argument, "{map}");
        }
        let map = json!({"wait_timeout": 0.5, "max_turns": 3, "max_concurrent": null});
        let limits = SubagentLimits::from_map(map.as_object().unwrap()).unwrap();
        assert_eq!(limits.wait_timeout, Duration::from_millis(500));
        assert_eq!((limits.max_turns, limits.max_concurrent), (3, 8));
    }
}
