//! Settings as the format names them.

use serde_json::{Map, Value, json};

use super::cache;
use super::thinking::{self, Thinking};
use crate::error::{Error, ErrorKind, Result};
use crate::protocol::settings::{LIMITS, present};

/// Tokens of an answer when nothing sets a limit, which the service insists on.
const DEFAULT_MAX_TOKENS: u64 = 4_096;

/// Settings that are told in another way, or that must not replace what the request is made of.
const TAKEN: [&str; 17] = [
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "stop",
    "stop_sequences",
    "user",
    "metadata",
    "reasoning_effort",
    "output_config",
    "parallel_tool_calls",
    "tool_choice",
    "extra_body",
    "model",
    "messages",
    "system",
    "tools",
    "stream",
];

/// Adds the settings to the body. Settings without a meaning of their own here are sent as they
/// are, and the service says what it does not know.
///
/// # Errors
/// [`ErrorKind::Configuration`] for a setting of a wrong shape.
pub(super) fn apply(
    settings: &Map<String, Value>,
    way: Thinking,
    forced: bool,
    body: &mut Map<String, Value>,
) -> Result<()> {
    let limit = LIMITS.iter().find_map(|name| present(settings, name));
    let mut effort = match present(settings, "reasoning_effort") {
        Some(effort) => way.fields(effort, limit.and_then(Value::as_u64))?,
        None => Map::new(),
    };
    // The service refuses thinking together with a call that is demanded.
    if forced && effort.get("thinking").is_some_and(is_on) {
        effort.shift_remove("thinking");
    }
    let own = present(settings, "thinking").or(effort.get("thinking"));
    let default = DEFAULT_MAX_TOKENS.saturating_add(thinking::room(own));
    let limit = limit.cloned().unwrap_or_else(|| json!(default));
    // The limit stands where it does without thinking, so that bodies compare well.
    body.insert("max_tokens".into(), limit);
    if let Some(thinking) = effort.shift_remove("thinking") {
        body.insert("thinking".into(), thinking);
    }
    if let Some(config) = output_config(settings, effort)? {
        body.insert("output_config".into(), config);
    }
    if let Some(stop) = stop_sequences(settings) {
        body.insert("stop_sequences".into(), stop);
    }
    if let Some(metadata) = metadata(settings) {
        body.insert("metadata".into(), metadata);
    }
    for (name, value) in settings {
        if !value.is_null() && name != cache::SETTING && !TAKEN.contains(&name.as_str()) {
            body.insert(name.clone(), value.clone());
        }
    }
    Ok(())
}

fn is_on(thinking: &Value) -> bool {
    thinking.get("type").is_some_and(|kind| kind != "disabled")
}

/// The application's own object over what the effort says.
fn output_config(
    settings: &Map<String, Value>,
    mut effort: Map<String, Value>,
) -> Result<Option<Value>> {
    let derived = effort.shift_remove("output_config");
    match (derived, present(settings, "output_config")) {
        (derived, None) => Ok(derived),
        (derived, Some(Value::Object(own))) => {
            let mut merged = match derived {
                Some(Value::Object(derived)) => derived,
                _ => Map::new(),
            };
            merged.extend(own.clone());
            Ok(Some(Value::Object(merged)))
        }
        (_, Some(other)) => Err(Error::new(
            ErrorKind::Configuration,
            format!("the setting output_config must be an object, got {other}"),
        )),
    }
}

/// One stop sequence or a list of them, under either name.
fn stop_sequences(settings: &Map<String, Value>) -> Option<Value> {
    let value = present(settings, "stop_sequences").or_else(|| present(settings, "stop"))?;
    Some(match value {
        Value::String(one) => json!([one]),
        list => list.clone(),
    })
}

/// The application's object, with who asks in its place there.
fn metadata(settings: &Map<String, Value>) -> Option<Value> {
    let own = present(settings, "metadata");
    let Some(user) = present(settings, "user") else {
        return own.cloned();
    };
    let mut metadata = own.and_then(Value::as_object).cloned().unwrap_or_default();
    metadata.entry("user_id").or_insert_with(|| user.clone());
    Some(Value::Object(metadata))
}
