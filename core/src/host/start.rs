//! How a host wants its run to be executed.

use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind, Result};
use crate::message::kind_of;
use crate::run::Scope;

/// How a run is executed: `{events, instrument, diagnostics, context, attributes, hooks, kind}`.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct HostStart {
    /// Whether events are queued; without them the host is woken only for calls and the end.
    /// Default true.
    pub events: bool,
    /// Whether [`Item::Instrument`](super::Item::Instrument) items are queued. Default false.
    pub instrument: bool,
    /// Whether instrument items hold, under `diagnostic`, what users and models wrote. The host must
    /// pass it through the application's policy. Default true.
    pub diagnostics: bool,
    /// What every instrument item of the run carries. Default nothing.
    pub context: Map<String, Value>,
    /// What the operation of the run itself carries, such as `service_name`, and the
    /// `parent_operation_id` of what it is a part of. Default nothing.
    pub attributes: Map<String, Value>,
    /// Hooks that the host has: `"session_history"`, `"error_message"`. Default none.
    pub hooks: Vec<String>,
    /// What is executed: `"run"` (the default), `"agent"` or `"model"`.
    pub scope: Scope,
}

impl Default for HostStart {
    fn default() -> Self {
        Self {
            events: true,
            instrument: false,
            diagnostics: true,
            context: Map::new(),
            attributes: Map::new(),
            hooks: Vec::new(),
            scope: Scope::Run,
        }
    }
}

impl HostStart {
    /// Reads the object; every key is optional.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for an unknown key or an unusable value.
    pub fn from_value(value: &Value) -> Result<Self> {
        let Value::Object(map) = value else {
            return Err(invalid(format!(
                "expected an object, got {}",
                kind_of(value)
            )));
        };
        let mut start = Self::default();
        for (key, value) in map.iter().filter(|(_, value)| !value.is_null()) {
            match key.as_str() {
                "events" => start.events = flag(key, value)?,
                "instrument" => start.instrument = flag(key, value)?,
                "diagnostics" => start.diagnostics = flag(key, value)?,
                "context" => start.context = object(key, value)?,
                "attributes" => start.attributes = object(key, value)?,
                "hooks" => start.hooks = hooks(map)?,
                "kind" => {
                    start.scope = value.as_str().and_then(Scope::from_name).ok_or_else(|| {
                        invalid(format!("kind must be run, agent or model, got {value}"))
                    })?;
                }
                other => {
                    return Err(invalid(format!(
                        "unknown key {other:?}; use events, instrument, diagnostics, context, \
                         attributes, hooks or kind"
                    )));
                }
            }
        }
        Ok(start)
    }

    pub(super) fn has_hook(&self, name: &str) -> bool {
        self.hooks.iter().any(|hook| hook == name)
    }
}

fn flag(key: &str, value: &Value) -> Result<bool> {
    value
        .as_bool()
        .ok_or_else(|| invalid(format!("{key} must be true or false, got {value}")))
}

fn object(key: &str, value: &Value) -> Result<Map<String, Value>> {
    value
        .as_object()
        .cloned()
        .ok_or_else(|| invalid(format!("{key} must be an object, got {}", kind_of(value))))
}

fn hooks(map: &Map<String, Value>) -> Result<Vec<String>> {
    let names = map.get("hooks").and_then(Value::as_array);
    let named = names.and_then(|names| {
        names
            .iter()
            .map(|name| name.as_str().map(str::to_owned))
            .collect::<Option<Vec<_>>>()
    });
    named.ok_or_else(|| invalid("hooks must be an array of names".into()))
}

fn invalid(problem: String) -> Error {
    Error::new(ErrorKind::Argument, format!("start: {problem}"))
}
