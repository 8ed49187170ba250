//! Where the service may cut the prompt that it keeps.

use serde_json::{Map, Value, json};

use super::family::Family;
use super::turns::Turns;
use crate::error::{Error, ErrorKind, Result};
use crate::protocol::settings::present;

/// The setting that asks for it.
pub(super) const SETTING: &str = "prompt_cache";

/// The block that marks a cut; `None` when the settings do not ask for it.
///
/// # Errors
/// [`ErrorKind::Configuration`] for anything but true, false or how long to keep the prompt.
pub(super) fn marker(settings: &Map<String, Value>) -> Result<Option<Value>> {
    match present(settings, SETTING) {
        None | Some(Value::Bool(false)) => Ok(None),
        Some(Value::Bool(true)) => Ok(Some(json!({"cachePoint": {"type": "default"}}))),
        Some(Value::String(ttl)) if ttl == "5m" || ttl == "1h" => {
            Ok(Some(json!({"cachePoint": {"type": "default", "ttl": ttl}})))
        }
        Some(other) => Err(Error::new(
            ErrorKind::Configuration,
            format!("the setting {SETTING} must be true, false, \"5m\" or \"1h\", got {other}"),
        )),
    }
}

/// Marks the end of what stays the same from request to request: the instructions, which come
/// behind the tools, or else the tools; and the end of the conversation, from which the next
/// request goes on.
pub(super) fn mark(marker: &Value, family: Family, tools: &mut Vec<Value>, turns: &mut Turns) {
    if !turns.system.is_empty() {
        turns.system.push(marker.clone());
    } else if !tools.is_empty() && family == Family::Claude {
        // Other models refuse a mark among the tools.
        tools.push(marker.clone());
    }
    turns.append(marker.clone());
}
