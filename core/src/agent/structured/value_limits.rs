//! How large a result may be.

use serde_json::Value;

const MAX_DEPTH: usize = 64;
const MAX_NODES: usize = 100_000;
pub(super) const MAX_BYTES: usize = 1_000_000;

/// Why `value` is too large, if it is. Keys of objects count as nodes.
pub(super) fn excess(value: &Value) -> Option<String> {
    let mut nodes = 0_usize;
    let mut waiting = vec![(value, 1_usize)];
    while let Some((value, depth)) = waiting.pop() {
        if depth > MAX_DEPTH && (value.is_array() || value.is_object()) {
            return Some(format!("$ is nested deeper than {MAX_DEPTH} levels"));
        }
        nodes += 1;
        match value {
            Value::Array(items) => waiting.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(map) => {
                nodes += map.len();
                waiting.extend(map.values().map(|item| (item, depth + 1)));
            }
            _ => {}
        }
        if nodes + waiting.len() > MAX_NODES {
            return Some(format!("$ has more than {MAX_NODES} values and keys"));
        }
    }
    if value.to_string().len() > MAX_BYTES {
        return Some(too_long());
    }
    None
}

pub(super) fn too_long() -> String {
    format!("$ is longer than {MAX_BYTES} bytes of JSON")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn nested(levels: usize) -> Value {
        (0..levels).fold(json!(1), |inner, _| json!([inner]))
    }

    #[test]
    fn each_limit_is_exact() {
        assert_eq!(excess(&nested(64)), None);
        assert!(excess(&nested(65)).unwrap().contains("64 levels"));
        let list = |count: usize| json!({"a": vec![0; count]});
        assert_eq!(excess(&list(100_000 - 3)), None);
        assert!(
            excess(&list(100_000 - 2))
                .unwrap()
                .contains("100000 values")
        );
        let text = |bytes: usize| json!({"a": "x".repeat(bytes)});
        assert_eq!(excess(&text(1_000_000 - 8)), None);
        assert!(
            excess(&text(1_000_000 - 7))
                .unwrap()
                .contains("1000000 bytes")
        );
    }
}
