//! What the description of an assembly has under a key.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};

pub(super) fn code<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value.get(key).filter(|code| !code.is_null())
}

pub(super) fn text<'a>(value: &'a Value, key: &str) -> Result<&'a str> {
    value
        .get(key)
        .and_then(Value::as_str)
        .ok_or_else(|| unusable(format!("the description of an assembly must have a {key}")))
}

pub(super) fn description(value: &Value) -> String {
    let given = value.get("description").and_then(Value::as_str);
    given.unwrap_or_default().to_owned()
}

pub(super) fn optional(value: &Value, key: &str) -> Option<Arc<str>> {
    value.get(key).and_then(Value::as_str).map(Into::into)
}

pub(super) fn flag(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or_default()
}

pub(super) fn list<'a>(value: &'a Value, key: &str) -> Result<&'a [Value]> {
    match value.get(key) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(_) => Err(unusable(format!("{key} of an assembly must be an array"))),
    }
}

pub(super) fn names(value: &Value, key: &str) -> Result<Vec<Arc<str>>> {
    let name = |name: &Value| {
        let name = name.as_str().map(Into::into);
        name.ok_or_else(|| unusable(format!("{key} must hold names")))
    };
    list(value, key)?.iter().map(name).collect()
}

pub(super) fn count(value: &Value, key: &str) -> Result<Option<u32>> {
    match value.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(number) => number
            .as_u64()
            .and_then(|number| u32::try_from(number).ok())
            .map(Some)
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::Argument,
                    format!("{key} must be a whole number that is not negative, not {number}"),
                )
            }),
    }
}

pub(super) fn seconds(value: &Value, key: &str) -> Result<Option<Duration>> {
    match value.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(number) => number
            .as_f64()
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .map(Some)
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::Argument,
                    format!("{key} must be a number of seconds that is neither negative nor beyond counting, not {number}"),
                )
            }),
    }
}

pub(super) fn invalid(problem: &str) -> Error {
    Error::new(ErrorKind::Argument, problem)
}

pub(super) fn unusable(problem: String) -> Error {
    Error::new(ErrorKind::Configuration, problem)
}
