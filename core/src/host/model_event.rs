//! Events of a model that is written in the host's language.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind, Result};
use crate::event::{ModelRetry, StreamEvent};
use crate::message::{Content, Usage, kind_of};

/// Reads `{type, data}` of a model's event. `None` for `message_stop`, which is the answer itself.
///
/// # Errors
/// [`ErrorKind::Protocol`] for anything that a model cannot say.
pub(super) fn from_value(value: &Value) -> Result<Option<StreamEvent>> {
    let Value::Object(event) = value else {
        return Err(invalid(format!(
            "a model's event must be an object of type and data, got {}",
            kind_of(value)
        )));
    };
    let kind = event
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let nothing = Map::new();
    let data = match event.get("data") {
        None | Some(Value::Null) => &nothing,
        Some(Value::Object(data)) => data,
        Some(other) => {
            return Err(invalid(format!(
                "{kind}: data must be an object, got {}",
                kind_of(other)
            )));
        }
    };
    let fields = Fields { kind, data };
    Ok(Some(match kind {
        "message_start" => StreamEvent::MessageStart {
            id: fields.optional("id"),
            model: fields.optional("model").unwrap_or_default(),
        },
        "text_delta" => StreamEvent::TextDelta {
            text: fields.text("text")?,
        },
        "reasoning_delta" => StreamEvent::ReasoningDelta {
            text: fields.text("text")?,
        },
        "tool_call_start" => StreamEvent::ToolCallStart {
            index: fields.count("index")?,
            id: fields.text("id")?,
            name: fields.text("name")?,
        },
        "tool_call_delta" => StreamEvent::ToolCallDelta {
            index: fields.count("index")?,
            arguments: fields.text("arguments")?,
        },
        "tool_call_stop" => fields.tool_call_stop()?,
        "usage" => StreamEvent::Usage {
            usage: match data.get("usage") {
                Some(Value::Object(usage)) => Usage::from_map(usage),
                _ => return Err(fields.missing("usage", "an object of token counts")),
            },
        },
        "model_retry" => fields.retry()?,
        "message_stop" => return Ok(None),
        other => {
            return Err(invalid(format!(
                "a model cannot send an event of type {other:?}; use message_start, text_delta, \
                 reasoning_delta, tool_call_start, tool_call_delta, tool_call_stop, usage, model_retry and \
                 message_stop"
            )));
        }
    }))
}

struct Fields<'a> {
    kind: &'a str,
    data: &'a Map<String, Value>,
}

impl Fields<'_> {
    fn optional(&self, key: &str) -> Option<String> {
        self.data
            .get(key)
            .and_then(Value::as_str)
            .map(str::to_owned)
    }

    fn text(&self, key: &str) -> Result<String> {
        self.optional(key)
            .ok_or_else(|| self.missing(key, "a string"))
    }

    fn count(&self, key: &str) -> Result<u32> {
        self.data
            .get(key)
            .and_then(Value::as_u64)
            .and_then(|number| u32::try_from(number).ok())
            .ok_or_else(|| self.missing(key, "a whole number"))
    }

    fn tool_call_stop(&self) -> Result<StreamEvent> {
        let tool_use = self.data.get("tool_use").map(Content::from_value);
        let Some(Ok(Content::ToolUse(tool_use))) = tool_use else {
            return Err(self.missing("tool_use", "a tool_use block"));
        };
        Ok(StreamEvent::ToolCallStop {
            index: self.count("index")?,
            tool_use: Arc::new(tool_use),
        })
    }

    fn retry(&self) -> Result<StreamEvent> {
        let delay = self.data.get("delay").and_then(Value::as_f64);
        let delay = delay.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let status = self.data.get("http_status").and_then(Value::as_u64);
        Ok(StreamEvent::ModelRetry(ModelRetry {
            attempt: self.count("attempt")?,
            delay: delay.ok_or_else(|| self.missing("delay", "seconds"))?,
            error_class: self.text("error_class")?,
            partial_text: self
                .data
                .get("partial_text")
                .and_then(Value::as_bool)
                .unwrap_or_default(),
            http_status: status.and_then(|status| u16::try_from(status).ok()),
            error_code: self.optional("error_code"),
        }))
    }

    fn missing(&self, key: &str, what: &str) -> Error {
        let found = self.data.get(key).map_or("nothing", kind_of);
        invalid(format!("{}: {key} must be {what}, got {found}", self.kind))
    }
}

fn invalid(problem: String) -> Error {
    Error::new(ErrorKind::Protocol, problem)
}
