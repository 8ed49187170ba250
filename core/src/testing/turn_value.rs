//! Turns as plain data, which is how hosts describe them.

use std::time::Duration;

use serde_json::{Map, Value};

use super::turn::Turn;
use crate::error::{Error, ErrorKind, Result};
use crate::host;
use crate::message::{Usage, kind_of};
use crate::model::StopReason;

const KEYS: &str = "text, json, reasoning, tool, input, id, tools, usage, stop_reason, delay, \
    pause and error";

impl Turn {
    /// Reads a string, or an object of these optional keys: `text` (a string or its pieces), `json` (any
    /// value, sent as text), `reasoning` (as `text`), `tool`, `input` and `id` for one call,
    /// `tools` (an array of `{tool, input, id}`), `usage`, `stop_reason`, `delay` and `pause` (seconds), `error`
    /// (a message, or `{kind, message, status, body, code}`).
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for anything else.
    pub fn from_value(value: &Value) -> Result<Self> {
        let map = match value {
            Value::String(text) => return Ok(Turn::text(text.clone())),
            Value::Object(map) => match map.get("function").and_then(Value::as_u64) {
                Some(id) => return Ok(Turn::of_host(id)),
                None => map,
            },
            other => {
                return Err(invalid(format!(
                    "a turn is a text or an object with {KEYS}, not {}",
                    kind_of(other)
                )));
            }
        };
        let mut turn = Turn::new();
        for (key, value) in map {
            turn = match key.as_str() {
                _ if value.is_null() => turn,
                "text" => texts(key, value)?.into_iter().fold(turn, Turn::piece),
                "json" => turn.piece(value.to_string()),
                "reasoning" => texts(key, value)?.into_iter().fold(turn, Turn::reasoning),
                "tool" => add_call(turn, map)?,
                "tools" => {
                    let calls = value
                        .as_array()
                        .ok_or_else(|| wrong(key, "an array of calls", value))?;
                    calls.iter().try_fold(turn, |turn, call| match call {
                        Value::Object(call) => add_call(turn, call),
                        other => Err(wrong("tools", "an array of objects", other)),
                    })?
                }
                "input" | "id" if map.contains_key("tool") => turn,
                "usage" => match value {
                    Value::Object(usage) => turn.usage(Usage::from_map(usage)),
                    other => return Err(wrong(key, "an object of token counts", other)),
                },
                "stop_reason" => turn.stop_reason(StopReason::from_name(&string(key, value)?)),
                "delay" => turn.delay(seconds(key, value)?),
                "pause" => turn.pause(seconds(key, value)?),
                "error" => turn.fail(error_from_value(value)?),
                other => {
                    return Err(invalid(format!(
                        "a turn has no {other:?}; possible are {KEYS}"
                    )));
                }
            };
        }
        if map.is_empty() {
            return Err(invalid(format!("a turn needs one of {KEYS}")));
        }
        Ok(turn)
    }

    /// A turn that a function of the host makes; the host keeps it under `id`.
    fn of_host(id: u64) -> Self {
        Turn::future(move |request| async move {
            Turn::from_value(&host::scripted_turn(id, &request).await?)
        })
    }

    /// Adds a piece of text.
    fn piece(self, text: String) -> Self {
        self.with(|answer| answer.text.push(text))
    }
}

fn add_call(turn: Turn, call: &Map<String, Value>) -> Result<Turn> {
    let name = call
        .get("tool")
        .ok_or_else(|| invalid("a call in tools needs the key \"tool\" with the tool's name"))?;
    let name = string("tool", name)?;
    let input = match call.get("input") {
        None | Some(Value::Null) => Value::Object(Map::new()),
        Some(input @ Value::Object(_)) => input.clone(),
        Some(other) => return Err(wrong("input", "an object", other)),
    };
    match call.get("id") {
        None | Some(Value::Null) => Ok(turn.call(name, input)),
        Some(id) => Ok(turn.call_with_id(string("id", id)?, name, input)),
    }
}

/// Reads a message, or `{kind, message, status, body, code}` with a kind such as `"HTTPError"`.
fn error_from_value(value: &Value) -> Result<Error> {
    let map = match value {
        Value::String(message) => return Ok(Error::new(ErrorKind::Provider, message.clone())),
        Value::Object(map) => map,
        other => return Err(wrong("error", "a message or an object", other)),
    };
    let text = |key: &str| map.get(key).and_then(Value::as_str);
    let kind = match text("kind") {
        None => ErrorKind::Provider,
        Some(name) => ErrorKind::from_name(name)
            .filter(|kind| *kind != ErrorKind::Host)
            .ok_or_else(|| invalid(format!("a turn's error has the unknown kind {name:?}")))?,
    };
    let message = text("message").unwrap_or("the scripted failure");
    let status = map.get("status").and_then(Value::as_u64);
    let status = status.and_then(|status| u16::try_from(status).ok());
    let error = Error::new(kind, message).with_http(status, text("body").map(str::to_owned));
    Ok(match text("code") {
        Some(code) => error.with_code(code),
        None => error,
    })
}

fn texts(key: &str, value: &Value) -> Result<Vec<String>> {
    match value {
        Value::Array(pieces) => pieces.iter().map(|piece| string(key, piece)).collect(),
        other => Ok(vec![string(key, other)?]),
    }
}

pub(super) fn string(key: &str, value: &Value) -> Result<String> {
    value
        .as_str()
        .map(str::to_owned)
        .ok_or_else(|| wrong(key, "a string", value))
}

fn seconds(key: &str, value: &Value) -> Result<Duration> {
    value
        .as_f64()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| wrong(key, "a number of seconds", value))
}

pub(super) fn wrong(key: &str, expected: &str, got: &Value) -> Error {
    invalid(format!("{key} must be {expected}, not {}", kind_of(got)))
}

pub(super) fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Argument, message)
}
