//! Writes a case as it was seen, for whoever writes one: check every line, then rename the file.

use serde_json::{Map, Value, json};

use super::case::Case;
use super::check::{counts, failure, message, query};
use super::layout;
use super::question::Asked;

pub(super) const SUFFIX: &str = ".seen.json";

pub(super) fn write(case: &Case, asked: &Asked, journal: &[Value]) {
    assert!(
        std::env::var_os("CI").is_none(),
        "what was seen is not what is right: WIRE_SEEN has no place in CI"
    );
    let text = std::fs::read_to_string(&case.path).unwrap();
    let mut tape: Value = serde_json::from_str(&text).unwrap();
    let exchanges = tape["exchanges"].as_array_mut().unwrap();
    for (exchange, entry) in exchanges.iter_mut().zip(journal) {
        exchange["expect"] = arrival(&exchange["expect"], entry);
    }
    tape["expect"] = outcome(asked, !asked.dropped.is_empty());
    let path = case.path.with_extension(&SUFFIX[1..]);
    std::fs::write(path, layout::text(&tape)).unwrap();
}

fn arrival(expected: &Value, entry: &Value) -> Value {
    let mut map = Map::from_iter([("path".to_owned(), entry["path"].clone())]);
    let query = query(entry);
    if !query.is_empty() {
        map.insert("query".into(), query.into());
    }
    if let Some(Value::Object(names)) = expected.get("headers") {
        let headers = names.keys().map(|name| {
            let value = entry["headers"][name.as_str()].clone();
            (name.clone(), value)
        });
        map.insert("headers".into(), Value::Object(headers.collect()));
    }
    map.insert("body".into(), entry["body"].clone());
    Value::Object(map)
}

fn outcome(asked: &Asked, drops: bool) -> Value {
    let events = asked.events.iter().map(|(kind, data)| match &**kind {
        "usage" => json!([kind, {"usage": counts(&data["usage"])}]),
        "model_retry" => json!([kind, whole_pause(data)]),
        _ => json!([kind, data]),
    });
    let mut expect = json!({"events": events.collect::<Vec<_>>()});
    match &asked.outcome {
        Ok(response) => {
            expect["response"] = json!({
                "message": message(&response.message),
                "stop_reason": response.stop_reason.as_str(),
                "usage": counts(&response.usage.to_value()),
                "metadata": response.metadata,
            });
        }
        Err(error) => {
            let mut seen = failure(error);
            let said = seen
                .as_object_mut()
                .and_then(|map| map.shift_remove("message"));
            seen["contains"] = json!([said]);
            expect["error"] = seen;
        }
    }
    if drops {
        expect["dropped"] = json!(asked.dropped);
    }
    expect
}

/// The data of a retry with the longest pause that its back-off could have made.
fn whole_pause(data: &Value) -> Value {
    let mut data = data.clone();
    let pause = data["delay"].as_f64().unwrap_or_default();
    if pause >= 0.5 {
        data["delay"] = json!(pause.log2().ceil().exp2());
    }
    data
}
