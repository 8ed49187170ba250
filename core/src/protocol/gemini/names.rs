//! Names in the format's own spelling.

use serde_json::{Map, Value};

/// `max_output_tokens` as `maxOutputTokens`; a name in that spelling stays.
pub(super) fn camel(name: &str) -> String {
    let mut spelled = String::with_capacity(name.len());
    let mut upper = false;
    for letter in name.chars() {
        if letter == '_' && !spelled.is_empty() {
            upper = true;
        } else if upper {
            spelled.extend(letter.to_uppercase());
            upper = false;
        } else {
            spelled.push(letter);
        }
    }
    spelled
}

/// Objects whose keys are the application's own, not the format's.
const FOREIGN_KEYS: &[&str] = &["responseJsonSchema", "responseSchema", "labels"];

/// `value` with every name in the format's spelling.
pub(super) fn respelled(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let entries = map.iter().filter(|(_, value)| !value.is_null());
            let entries = entries.map(|(key, value)| entry(key, value));
            Value::Object(entries.collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(respelled).collect(),
        other => other.clone(),
    }
}

/// One field with its name in the format's spelling.
pub(super) fn entry(key: &str, value: &Value) -> (String, Value) {
    let key = camel(key);
    let value = if FOREIGN_KEYS.contains(&key.as_str()) {
        value.clone()
    } else {
        respelled(value)
    };
    (key, value)
}
