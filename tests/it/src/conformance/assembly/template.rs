//! Texts with names in braces, which stand for what a workflow or a graph knows.

use little_ghost::GraphState;
use serde_json::{Value, json};

/// The text with what `lookup` says in place of each name and key.
pub(super) fn fill(text: &str, lookup: impl Fn(&str, &str) -> Value) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let name = after.split_once('}').filter(|(name, _)| is_name(name));
        match name {
            Some((name, behind)) => {
                let (name, key) = name.split_once('.').unwrap_or((name, ""));
                filled.push_str(&shown(&lookup(name, key)));
                rest = behind;
            }
            None => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    filled
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text
            .chars()
            .all(|one| one.is_ascii_alphanumeric() || one == '_' || one == '.')
}

/// A value in a text.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// What a mapper says of a state.
pub(super) fn of_state(text: &str, state: &GraphState) -> String {
    fill(text, |name, key| match name {
        "input" => json!(state.input.text()),
        "history" => state.history.iter().map(|message| message.text()).collect(),
        "context" => state.context.get(key).cloned().unwrap_or_default(),
        "out" => state.result(key).unwrap().output(),
        "results" => state.results().map(|(name, _)| name).collect(),
        "incoming" => incoming(
            state
                .incoming_results()
                .map(|(name, result)| (name, result.output())),
        ),
        "predecessors" => state.predecessors().collect(),
        "previous" => json!(state.previous().unwrap_or("nobody")),
        "current" => json!(state.current.as_deref()),
        "step" => json!(state.step),
        "error" => json!(
            state
                .error
                .as_ref()
                .map_or("none", |error| error.class_name())
        ),
        other => panic!("a state has no {other}"),
    })
}

/// As [`of_state`], of what a host gets.
pub(super) fn of_value(text: &str, state: &Value) -> String {
    let list = |key: &str| state[key].as_array().unwrap();
    let result = |name: &str| {
        let found = list("results").iter().find(|pair| pair[0] == name);
        found.map(|pair| output(&pair[1]))
    };
    let previous = match list("incoming").as_slice() {
        [only] => only.clone(),
        _ => json!("nobody"),
    };
    fill(text, |name, key| match name {
        "input" => json!(text_of(&state["input"])),
        "history" => list("history").iter().map(text_of).collect(),
        "context" => state["context"][key].clone(),
        "out" => result(key).unwrap(),
        "results" => list("results").iter().map(|pair| pair[0].clone()).collect(),
        "incoming" => incoming(list("incoming").iter().filter_map(|name| {
            let name = name.as_str().unwrap();
            Some((name, result(name)?))
        })),
        "predecessors" => state["incoming"].clone(),
        "previous" => previous.clone(),
        "current" | "step" => state[name].clone(),
        "error" => match &state["error"] {
            Value::Null => json!("none"),
            error => error.get("host_class").unwrap_or(&error["kind"]).clone(),
        },
        other => panic!("a state has no {other}"),
    })
}

fn incoming<'a>(results: impl Iterator<Item = (&'a str, Value)>) -> Value {
    results
        .map(|(name, output)| format!("{name}={}", shown(&output)))
        .collect()
}

/// The output of a result as hosts get it.
fn output(result: &Value) -> Value {
    match result.pointer("/structured/value") {
        Some(value) => value.clone(),
        None => json!(text_of(&result["message"])),
    }
}

/// The text of a serialised message.
pub(super) fn text_of(message: &Value) -> String {
    let content = message["content"].as_array().into_iter().flatten();
    content.filter_map(|block| block["text"].as_str()).collect()
}
