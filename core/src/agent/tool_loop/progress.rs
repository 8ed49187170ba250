//! What an invocation repeated.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Map, Value};

use crate::message::ToolUse;

/// What one invocation repeated so far.
#[derive(Default)]
pub(super) struct Progress {
    pub(super) begun: u64,
    /// The model call whose tool calls are running.
    pub(super) batch: u64,
    pub(super) repeats: HashMap<Call, Repeats>,
    /// Why no tool runs any more.
    pub(super) ended: Option<String>,
}

/// A tool with its input.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Call {
    name: String,
    input: (u64, u64),
}

#[derive(Clone, Copy)]
pub(super) struct Repeats {
    pub(super) result: (u64, u64),
    pub(super) count: u32,
    pub(super) batch: u64,
}

impl Call {
    pub(super) fn of(call: &ToolUse) -> Self {
        Self {
            name: call.name.clone(),
            input: digest(&canonical(&Value::Object(call.input.clone())).to_string()),
        }
    }
}

/// Equal for equal values; two hashes make other collisions unthinkable.
pub(super) fn digest(value: &impl Hash) -> (u64, u64) {
    let mut first = DefaultHasher::new();
    let mut second = DefaultHasher::new();
    value.hash(&mut first);
    "second".hash(&mut second);
    value.hash(&mut second);
    (first.finish(), second.finish())
}

/// `value` with the keys of objects in order.
pub(super) fn canonical(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut sorted: Vec<(&String, &Value)> = map.iter().collect();
            sorted.sort_by_key(|(key, _)| *key);
            let entries = sorted
                .into_iter()
                .map(|(key, value)| (key.clone(), canonical(value)));
            Value::Object(entries.collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(canonical).collect(),
        other => other.clone(),
    }
}
