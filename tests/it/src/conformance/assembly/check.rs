//! What a case expects against what there was to see.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::case::ErrorSpec;
use super::super::check::{error, same as plainly_same};
use super::super::compact::counts;
use super::super::mask::matches;
use super::case::AssemblyCase;
use super::notation::{Notation, agent_of, conversation};
use super::observation::Observation;

/// Compares a refusal of the declarations.
pub(super) fn refusal(found: &mut Vec<String>, expected: &ErrorSpec, refusal: Option<&Value>) {
    error(found, "refused", Some(expected), refusal);
}

/// Compares, and shows lists line by line.
pub(super) fn same(found: &mut Vec<String>, what: &str, expected: &Value, actual: &Value) {
    if matches(expected, actual) {
        return;
    }
    let lines = |value: &Value| match value {
        Value::Array(list) => list.iter().map(|entry| format!("\n    {entry},")).collect(),
        other => format!("{other:#}"),
    };
    found.push(format!(
        "{what}\n  expected {}\n  but was {}",
        lines(expected),
        lines(actual)
    ));
}

/// Compares a run.
pub(super) fn run(found: &mut Vec<String>, case: &AssemblyCase, seen: &Observation) {
    let expect = &case.expect;
    let (own, agents) = Notation::new(case, Some(seen)).shorten(&seen.events);
    same(found, "events", &json!(expect.events), &json!(own));
    same(found, "agents", &json!(expect.agents), &json!(agents));
    plainly_same(
        found,
        "outcome",
        &json!(expect.outcome),
        &json!(seen.outcome),
    );
    let response = match &expect.response {
        Value::Null => json!(""),
        response => response.clone(),
    };
    plainly_same(found, "response", &response, &json!(seen.response));
    let used = counts(&seen.usage).unwrap_or_else(|| seen.usage.clone());
    plainly_same(found, "usage", &json!(expect.usage), &used);
    error(found, "error", expect.error.as_ref(), seen.error.as_ref());
    let steps = seen.steps.as_ref().map(|steps| steps.shorten());
    same(
        found,
        "steps",
        &json!(expect.steps),
        &json!(steps.unwrap_or_default()),
    );
    if let Some(output) = &expect.output {
        plainly_same(found, "output", output, &seen.output);
    }
    if let Some(state) = &expect.state {
        plainly_same(found, "state", state, &seen.state);
    }
    for (first, second, fits) in &expect.concurrent {
        let beside = seen
            .steps
            .as_ref()
            .is_some_and(|steps| steps.concurrent(first, second));
        plainly_same(
            found,
            &format!("{first} beside {second}"),
            &json!(fits),
            &json!(beside),
        );
    }
    for (key, value) in &expect.session {
        same(
            found,
            &format!("session {key}"),
            value,
            &seen.session[key.as_str()],
        );
    }
    asked(found, case, &seen.journal);
}

/// What the models were asked, by agent.
fn asked(found: &mut Vec<String>, case: &AssemblyCase, journal: &[Value]) {
    let expect = &case.expect;
    let mut bodies: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    let mut broken = Vec::new();
    for entry in journal {
        if !entry["error"].is_null() {
            found.push(format!(
                "the script does not fit: {} {}",
                entry["error"], entry["body"]
            ));
        }
        let agent = agent_of(&entry["body"]);
        if !entry["disconnected_ms"].is_null() {
            broken.push(agent.clone());
        }
        bodies.entry(agent).or_default().push(&entry["body"]);
    }
    let actual: BTreeMap<&String, Vec<Value>> = bodies
        .iter()
        .map(|(agent, asked)| (agent, asked.iter().map(|body| conversation(body)).collect()))
        .collect();
    same(found, "requests", &json!(expect.requests), &json!(actual));
    for (agent, specs) in &expect.bodies {
        for (place, spec) in specs.as_array().unwrap().iter().enumerate() {
            let body = bodies.get(agent).and_then(|asked| asked.get(place));
            for (key, value) in spec.as_object().unwrap() {
                let actual = body.and_then(|body| body.get(key)).unwrap_or(&Value::Null);
                plainly_same(
                    found,
                    &format!("body {place} of {agent}: {key}"),
                    value,
                    actual,
                );
            }
        }
    }
    broken.sort();
    plainly_same(
        found,
        "broken off",
        &json!(expect.broken_off),
        &json!(broken),
    );
}
