//! What a case expects against what there was to see.

use serde_json::{Value, json};

use super::case::{Case, ErrorSpec, RequestSpec, Requests};
use super::compact::{compact, counts};
use super::mask::matches;
use super::observation::Observation;

/// Every way in which `observation` is not what `case` expects; empty when they agree.
pub fn differences(case: &Case, observation: &Observation) -> Vec<String> {
    let mut found = Vec::new();
    let expect = &case.expect;
    if let Some(raises) = &expect.raises {
        error(
            &mut found,
            "raised",
            Some(raises),
            observation.raised.as_ref(),
        );
    } else if expect.may_refuse_early && observation.refused {
        let mut refusal = observation.raised.clone().unwrap_or_default();
        if let Some(spec) = &expect.error
            && refusal["class"] == "ConfigurationError"
        {
            refusal["class"] = json!(spec.class);
        }
        error(&mut found, "refused", expect.error.as_ref(), Some(&refusal));
        return found;
    } else {
        if let Some(raised) = &observation.raised {
            found.push(format!("raised {raised}"));
        }
        let outcome = json!(observation.outcome);
        same(&mut found, "outcome", &json!(expect.outcome), &outcome);
        error(
            &mut found,
            "error",
            expect.error.as_ref(),
            observation.error.as_ref(),
        );
        let response = expect.response.clone().unwrap_or_else(|| json!(""));
        same(
            &mut found,
            "response",
            &response,
            &json!(observation.response),
        );
        let usage = expect.usage.clone().unwrap_or_else(|| json!([]));
        let actual = counts(&observation.usage).unwrap_or_else(|| observation.usage.clone());
        same(&mut found, "usage", &usage, &actual);
        if let Some(cost) = &expect.cost {
            same(&mut found, "cost", cost, &observation.cost);
        }
        if let Some(output) = &expect.output {
            same(&mut found, "output", output, &observation.output);
        }
        for (key, value) in expect.session.iter().flatten() {
            same(
                &mut found,
                &format!("session {key}"),
                value,
                &observation.session[key],
            );
        }
        if let Some(state) = &expect.state {
            same(&mut found, "state", state, &observation.state);
        }
    }
    events(&mut found, case, observation);
    requests(&mut found, &expect.requests, &observation.journal);
    found
}

pub(super) fn same(found: &mut Vec<String>, what: &str, expected: &Value, actual: &Value) {
    if !matches(expected, actual) {
        found.push(format!(
            "{what}\n  expected {expected}\n  but was  {actual}"
        ));
    }
}

pub(super) fn error(
    found: &mut Vec<String>,
    what: &str,
    expected: Option<&ErrorSpec>,
    actual: Option<&Value>,
) {
    let (spec, value) = match (expected, actual) {
        (None, None) => return,
        (Some(spec), Some(value)) => (spec, value),
        (spec, value) => {
            found.push(format!("{what}\n  expected {spec:?}\n  but was  {value:?}"));
            return;
        }
    };
    let message = value["message"].as_str().unwrap_or_default();
    let lower = message.to_lowercase();
    let has = |part: &String| lower.contains(&part.to_lowercase());
    let fits = value["class"] == spec.class.as_str()
        && spec.message_contains.iter().all(has)
        && !spec.message_omits.iter().any(has)
        && spec.status.is_none_or(|status| value["status"] == status);
    if !fits {
        found.push(format!("{what}\n  expected {spec:?}\n  but was  {value}"));
    }
}

fn events(found: &mut Vec<String>, case: &Case, observation: &Observation) {
    let actual = compact(case, observation);
    let expected = case.expect.events.clone().unwrap_or_default();
    if !matches(&json!(expected), &json!(actual)) {
        let lines = |list: &[Value]| -> String {
            list.iter().map(|entry| format!("\n    {entry},")).collect()
        };
        let first = expected
            .iter()
            .zip(&actual)
            .position(|(wanted, other)| !matches(wanted, other))
            .unwrap_or_else(|| expected.len().min(actual.len()));
        found.push(format!(
            "events, from position {first}\n  expected{}\n  but were{}",
            lines(&expected),
            lines(&actual)
        ));
    }
}

fn requests(found: &mut Vec<String>, expected: &Requests, journal: &[Value]) {
    let count = match expected {
        Requests::Count(count) => *count,
        Requests::List(list) => list.len(),
    };
    if journal.len() != count {
        found.push(format!(
            "requests\n  expected {count}\n  but were {}",
            json!(journal)
        ));
        return;
    }
    for entry in journal {
        if !entry["error"].is_null() {
            found.push(format!("the script does not fit: {}", entry["error"]));
        }
    }
    if let Requests::List(list) = expected {
        for (position, (spec, entry)) in list.iter().zip(journal).enumerate() {
            request(found, &format!("request {position}"), spec, entry);
        }
    }
}

fn request(found: &mut Vec<String>, what: &str, spec: &RequestSpec, entry: &Value) {
    if let Some(path) = &spec.path {
        same(found, &format!("{what} path"), &json!(path), &entry["path"]);
    }
    for (name, value) in &spec.headers {
        let actual = &entry["headers"][name.as_str()];
        same(found, &format!("{what} header {name}"), value, actual);
    }
    if let Some(body) = &spec.body {
        same(found, &format!("{what} body"), body, &entry["body"]);
    }
    for (key, value) in &spec.body_includes {
        let actual = &entry["body"][key.as_str()];
        same(found, &format!("{what} body.{key}"), value, actual);
    }
    // The reverse is not an error: whoever has what it needs may leave before the last byte.
    if spec.disconnected && entry["disconnected_ms"].is_null() {
        found.push(format!("{what} was not broken off"));
    }
}
