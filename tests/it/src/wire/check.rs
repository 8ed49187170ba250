//! What a cassette expects against what there was to see.

use little_ghost::{Error, Retry};
use serde_json::{Map, Value, json};

use super::case::{Arrival, Case, Failure, Response};
use super::question::Asked;
use crate::conformance::mask::matches;

/// Every way in which the request and its outcome are not what `case` says; empty when they agree.
pub(super) fn differences(case: &Case, asked: &Asked, journal: &[Value]) -> Vec<String> {
    let mut found = Differences::default();
    let expect = &case.tape.expect;
    found.requests(
        case.tape.exchanges.iter().map(|exchange| &exchange.expect),
        journal,
    );
    found.events(&expect.events, &asked.events);
    match (&expect.response, &expect.error, &asked.outcome) {
        (Some(response), _, Ok(actual)) => found.response(response, actual),
        (_, Some(failure), Err(error)) => found.error(failure, error),
        (_, _, Ok(response)) => found.0.push(format!(
            "expected an error\n  but was {}",
            response.to_value()
        )),
        (_, _, Err(error)) => found
            .0
            .push(format!("expected a response\n  but was {}", failure(error))),
    }
    if let Some(dropped) = &expect.dropped {
        found.same("dropped", &json!(dropped), &json!(asked.dropped));
    }
    found.0
}

/// `{kind, message, status?, code?, retry, usage?}`.
pub(super) fn failure(error: &Error) -> Value {
    let mut value = json!({
        "kind": format!("{:?}", error.kind()), "message": error.message(), "retry": retry(error),
    });
    if let Some(status) = error.status() {
        value["status"] = json!(status);
    }
    if let Some(code) = error.code() {
        value["code"] = json!(code);
    }
    if let Some(usage) = error.data().and_then(|data| data.get("usage")) {
        value["usage"] = counts(usage);
    }
    value
}

/// The counts that are not zero, without the total.
pub(super) fn counts(usage: &Value) -> Value {
    let all = usage.as_object().into_iter().flatten();
    let counts = all.filter(|(name, count)| *name != "total_tokens" && **count != json!(0));
    Value::Object(
        counts
            .map(|(name, count)| (name.clone(), count.clone()))
            .collect(),
    )
}

/// A message, without metadata when it has none.
pub(super) fn message(message: &little_ghost::Message) -> Value {
    let mut value = message.to_value();
    if message.metadata.is_empty()
        && let Some(map) = value.as_object_mut()
    {
        map.shift_remove("metadata");
    }
    value
}

/// `name=value` pairs of a query string, as they were sent.
pub(super) fn query(entry: &Value) -> Map<String, Value> {
    let text = entry["query"].as_str().unwrap_or_default();
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (name.to_owned(), json!(value))
        })
        .collect()
}

fn retry(error: &Error) -> Value {
    match error.retry() {
        Retry::Never => json!("never"),
        Retry::Backoff => json!("backoff"),
        Retry::After(pause) => json!(pause.as_secs_f64()),
    }
}

#[derive(Default)]
struct Differences(Vec<String>);

impl Differences {
    fn same(&mut self, what: &str, expected: &Value, actual: &Value) {
        if !matches(expected, actual) {
            let mut lines = Vec::new();
            deep(what, expected, actual, &mut lines);
            self.0.push(lines.join("\n"));
        }
    }

    fn requests<'a>(
        &mut self,
        expected: impl ExactSizeIterator<Item = &'a Arrival>,
        journal: &[Value],
    ) {
        if journal.len() != expected.len() {
            self.0.push(format!(
                "requests\n  expected {}\n  but were {}",
                expected.len(),
                json!(journal)
            ));
            return;
        }
        for (position, (arrival, entry)) in expected.zip(journal).enumerate() {
            let what = format!("exchanges[{position}]");
            if !entry["error"].is_null() {
                self.0
                    .push(format!("{what} does not fit: {}", entry["error"]));
            }
            self.same(
                &format!("{what} path"),
                &json!(arrival.path),
                &entry["path"],
            );
            let asked = Value::Object(query(entry));
            self.same(&format!("{what} query"), &json!(arrival.query), &asked);
            for (name, value) in &arrival.headers {
                let actual = &entry["headers"][name.as_str()];
                self.same(&format!("{what} header {name}"), value, actual);
            }
            self.same(&format!("{what} body"), &arrival.body, &entry["body"]);
        }
    }

    fn events(&mut self, expected: &[(String, Value)], actual: &[(String, Value)]) {
        let fits = |wanted: &(String, Value), seen: &(String, Value)| {
            wanted.0 == seen.0
                && match &*wanted.0 {
                    "model_retry" => is_retry(&wanted.1, &seen.1),
                    "usage" => matches(&counts(&wanted.1["usage"]), &counts(&seen.1["usage"])),
                    _ => matches(&wanted.1, &seen.1),
                }
        };
        let differs = expected.iter().zip(actual).position(|(a, b)| !fits(a, b));
        let first = match differs {
            Some(first) => first,
            None if expected.len() == actual.len() => return,
            None => expected.len().min(actual.len()),
        };
        let lines = |list: &[(String, Value)]| -> String {
            let rest = list.iter().enumerate().skip(first).take(4);
            rest.map(|(index, (kind, data))| format!("\n    {index}: {kind} {data}"))
                .collect()
        };
        self.0.push(format!(
            "events, from position {first} of {}\n  expected{}\n  but were{}",
            expected.len(),
            lines(expected),
            lines(actual)
        ));
    }

    fn response(&mut self, expected: &Response, actual: &little_ghost::ModelResponse) {
        self.same(
            "response.message",
            &expected.message,
            &message(&actual.message),
        );
        self.same(
            "response.stop_reason",
            &json!(expected.stop_reason),
            &json!(actual.stop_reason.as_str()),
        );
        let usage = counts(&actual.usage.to_value());
        self.same("response.usage", &counts(&expected.usage), &usage);
        if let Some(metadata) = &expected.metadata {
            self.same("response.metadata", metadata, &json!(actual.metadata));
        }
    }

    fn error(&mut self, expected: &Failure, error: &Error) {
        let actual = failure(error);
        let message = error.message().to_lowercase();
        let has = |part: &String| message.contains(&part.to_lowercase());
        let kind = error.kind();
        let mut fits = [format!("{kind:?}"), kind.name().to_owned()].contains(&expected.kind)
            && expected.status == error.status()
            && expected.contains.iter().all(has)
            && !expected.omits.iter().any(has);
        if let Some(code) = &expected.code {
            fits &= error.code() == Some(code);
        }
        if let Some(pause) = &expected.retry {
            fits &= matches(pause, &actual["retry"]);
        }
        if let Some(usage) = &expected.usage {
            fits &= matches(&counts(usage), &counts(&actual["usage"]));
        }
        if !fits {
            self.0.push(format!(
                "error\n  expected {expected:?}\n  but was  {actual}"
            ));
        }
    }
}

/// A retry whose pause is between half of what is said and all of it: back-off is random.
fn is_retry(expected: &Value, actual: &Value) -> bool {
    let without = |value: &Value| {
        let mut value = value.clone();
        if let Some(map) = value.as_object_mut() {
            map.shift_remove("delay");
        }
        value
    };
    let pause = actual["delay"].as_f64().unwrap_or(f64::NAN);
    let fits = match &expected["delay"] {
        Value::Null => pause >= 0.0,
        Value::Number(full) => {
            let full = full.as_f64().unwrap_or_default();
            (full / 2.0..=full).contains(&pause)
        }
        mask => matches(mask, &actual["delay"]),
    };
    fits && matches(&without(expected), &without(actual))
}

/// The places where the two differ, one line each.
fn deep(place: &str, expected: &Value, actual: &Value, lines: &mut Vec<String>) {
    if matches(expected, actual) {
        return;
    }
    match (expected, actual) {
        (Value::Object(wanted), Value::Object(found))
            if !wanted.keys().any(|key| key.starts_with('$')) =>
        {
            for (key, value) in wanted {
                let place = format!("{place}.{key}");
                match found.get(key) {
                    Some(other) => deep(&place, value, other, lines),
                    None => lines.push(format!("{place}\n  expected {value}\n  but was  absent")),
                }
            }
            for (key, value) in found.iter().filter(|(key, _)| !wanted.contains_key(*key)) {
                lines.push(format!(
                    "{place}.{key}\n  expected absent\n  but was  {value}"
                ));
            }
        }
        (Value::Array(wanted), Value::Array(found)) if wanted.len() == found.len() => {
            for (index, (value, other)) in wanted.iter().zip(found).enumerate() {
                deep(&format!("{place}[{index}]"), value, other, lines);
            }
        }
        (wanted, found) => {
            lines.push(format!("{place}\n  expected {wanted}\n  but was  {found}"));
        }
    }
}
