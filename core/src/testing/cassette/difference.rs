//! How a request differs from a recorded one, in words.

use serde_json::Value;

use super::exchange::Request;

/// Characters of a value that are shown.
const SHOWN: usize = 80;
/// Characters before the first difference that are shown.
const LEAD: usize = 20;

/// Every difference that counts, one line each; none when `sent` is what was recorded.
pub(super) fn differences(recorded: &Request, sent: &Request) -> Vec<String> {
    let mut found = Vec::new();
    for (name, recorded, sent) in [
        ("method", &recorded.method, &sent.method),
        ("path", &recorded.path, &sent.path),
    ] {
        if recorded != sent {
            found.push(format!("{name}: recorded {recorded}, sent {sent}"));
        }
    }
    compare(
        "query",
        &Value::Object(recorded.query.clone()),
        &Value::Object(sent.query.clone()),
        &mut found,
    );
    compare("body", &recorded.body, &sent.body, &mut found);
    found
}

fn compare(path: &str, recorded: &Value, sent: &Value, found: &mut Vec<String>) {
    match (recorded, sent) {
        (Value::Object(old), Value::Object(new)) => {
            for (key, value) in old {
                let path = format!("{path}.{key}");
                match new.get(key) {
                    Some(sent) => compare(&path, value, sent, found),
                    None => found.push(format!("{path}: recorded {}, not sent", shown(value))),
                }
            }
            for (key, value) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
                found.push(format!("{path}.{key}: not recorded, sent {}", shown(value)));
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            for index in 0..old.len().max(new.len()) {
                let path = format!("{path}[{index}]");
                match (old.get(index), new.get(index)) {
                    (Some(old), Some(new)) => compare(&path, old, new, found),
                    (Some(old), None) => {
                        found.push(format!("{path}: recorded {}, not sent", shown(old)));
                    }
                    (None, Some(new)) => {
                        found.push(format!("{path}: not recorded, sent {}", shown(new)));
                    }
                    (None, None) => {}
                }
            }
        }
        (Value::String(old), Value::String(new)) if old != new => {
            let same = old
                .chars()
                .zip(new.chars())
                .take_while(|(old, new)| old == new)
                .count();
            let (old, new) = (excerpt(old, same), excerpt(new, same));
            found.push(format!("{path}: recorded {old}, sent {new}"));
        }
        (old, new) if old != new => {
            found.push(format!(
                "{path}: recorded {}, sent {}",
                shown(old),
                shown(new)
            ));
        }
        _ => {}
    }
}

fn shown(value: &Value) -> String {
    crate::http::shorten(&value.to_string(), SHOWN)
}

/// `text` from a little before its character number `from`.
fn excerpt(text: &str, from: usize) -> String {
    let start = from.saturating_sub(LEAD);
    let part: String = text.chars().skip(start).take(SHOWN).collect();
    let before = if start > 0 { "…" } else { "" };
    let after = if text.chars().nth(start + SHOWN).is_some() {
        "…"
    } else {
        ""
    };
    format!("{before}{part:?}{after}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(body: Value) -> Request {
        Request {
            method: "POST".into(),
            host: "a.test:443".into(),
            path: "/v1".into(),
            query: serde_json::Map::new(),
            body,
        }
    }

    #[test]
    fn order_of_keys_and_host_do_not_count() {
        let recorded = request(json!({"a": 1, "b": [1, 2]}));
        let mut sent = request(json!({"b": [1, 2], "a": 1}));
        sent.host = "b.test:80".into();
        assert!(differences(&recorded, &sent).is_empty());
    }

    #[test]
    fn each_difference_has_its_place() {
        let long = "x".repeat(100);
        let recorded = request(json!({
            "messages": [{"content": "Hi"}, {"content": format!("{long}old")}], "n": 1, "gone": true,
        }));
        let mut sent = request(json!({
            "messages": [{"content": "Hello"}, {"content": format!("{long}new")}, {"role": "tool"}],
            "n": "1", "added": null,
        }));
        sent.path = "/v2".into();
        assert_eq!(
            differences(&recorded, &sent),
            [
                "path: recorded /v1, sent /v2".to_owned(),
                "body.messages[0].content: recorded \"Hi\", sent \"Hello\"".to_owned(),
                format!(
                    "body.messages[1].content: recorded …\"{0}old\", sent …\"{0}new\"",
                    "x".repeat(20)
                ),
                "body.messages[2]: not recorded, sent {\"role\":\"tool\"}".to_owned(),
                "body.n: recorded 1, sent \"1\"".to_owned(),
                "body.gone: recorded true, not sent".to_owned(),
                "body.added: not recorded, sent null".to_owned(),
            ]
        );
    }
}
