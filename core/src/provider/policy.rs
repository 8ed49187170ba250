//! Request policies: transport bounds that a model profile sets over its connection's.

use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind, Result};

/// Every key a policy may have.
pub(super) const KEYS: &[&str] = &[
    "max_response_bytes",
    "max_retries",
    "max_retry_delay",
    "open_timeout",
    "read_timeout",
    "app_name",
];

/// The keys that every HTTP adapter understands.
pub(super) const COMMON: &[&str] = &[
    "max_response_bytes",
    "max_retries",
    "max_retry_delay",
    "open_timeout",
    "read_timeout",
];

/// Checks the keys of a policy and resolves the alias `retries`.
pub(super) fn normalize(role: &str, policy: &Map<String, Value>) -> Result<Map<String, Value>> {
    let mut normal = Map::new();
    for (key, value) in policy {
        if value.is_null() {
            continue;
        }
        if key == "retries" {
            normal.entry("max_retries").or_insert_with(|| value.clone());
        } else if KEYS.contains(&key.as_str()) {
            normal.insert(key.clone(), value.clone());
        } else {
            return Err(Error::new(
                ErrorKind::Configuration,
                format!(
                    "model {role:?} has the unknown request option {key:?}; possible are {} and \
                     retries",
                    KEYS.join(", ")
                ),
            ));
        }
    }
    Ok(normal)
}

/// The connection's options with the policy over them.
pub(super) fn apply(
    options: &Map<String, Value>,
    policy: &Map<String, Value>,
    understood: &[&str],
) -> Map<String, Value> {
    let mut merged = options.clone();
    for (key, value) in policy {
        if understood.contains(&key.as_str()) {
            merged.insert(key.clone(), value.clone());
        }
    }
    merged
}
