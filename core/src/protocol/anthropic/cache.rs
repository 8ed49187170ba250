//! Where the service may cut the prompt that it keeps.

use serde_json::{Map, Value, json};

use super::turns::Turns;
use crate::error::{Error, ErrorKind, Result};

/// The setting that asks for it.
pub(super) const SETTING: &str = "prompt_cache";

/// Marks the end of what stays the same from request to request: the instructions, which come
/// behind the tools, or else the tools; and the end of the conversation, from which the next
/// request goes on.
///
/// # Errors
/// [`ErrorKind::Configuration`] for anything but true, false or how long to keep the prompt.
pub(super) fn mark(setting: &Value, tools: &mut [Value], turns: &mut Turns) -> Result<()> {
    let marker = match setting {
        Value::Bool(false) => return Ok(()),
        Value::Bool(true) => json!({"type": "ephemeral"}),
        Value::String(ttl) if ttl == "5m" || ttl == "1h" => {
            json!({"type": "ephemeral", "ttl": ttl})
        }
        other => {
            return Err(Error::new(
                ErrorKind::Configuration,
                format!("the setting {SETTING} must be true, false, \"5m\" or \"1h\", got {other}"),
            ));
        }
    };
    let constant = turns.system.last_mut().or(tools.last_mut());
    if let Some(block) = constant.and_then(Value::as_object_mut) {
        insert(block, &marker);
    }
    if let Some(block) = turns.last_cacheable().and_then(Value::as_object_mut) {
        insert(block, &marker);
    }
    Ok(())
}

fn insert(block: &mut Map<String, Value>, marker: &Value) {
    block.insert("cache_control".into(), marker.clone());
}
