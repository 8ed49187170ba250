//! Token counts of services, which each service keeps in other places.

use serde_json::Value;

/// What is found in `value` under `path`, keys with a slash before each.
fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    let mut keys = path.split('/').skip(1);
    keys.try_fold(value, |value, key| value.get(key))
}

/// The count under `path`, if there is one.
pub(super) fn count(value: &Value, path: &str) -> Option<u64> {
    at(value, path).and_then(Value::as_u64)
}

/// The first count that there is, or zero.
pub(super) fn first_count(value: &Value, paths: &[&str]) -> u64 {
    let counts = paths.iter().find_map(|path| count(value, path));
    counts.unwrap_or(0)
}
