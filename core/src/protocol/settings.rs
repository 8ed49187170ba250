//! Settings: what their names mean everywhere, and what the OpenAI formats share.

use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind, Result};
use crate::message::kind_of;

/// Names of one setting: whoever sets one of them takes the place of the others.
const FAMILIES: [&[&str]; 2] = [&LIMITS, &["stop", "stop_sequences"]];

/// The names of the limit of an answer.
pub(crate) const LIMITS: [&str; 3] = ["max_tokens", "max_completion_tokens", "max_output_tokens"];

/// Settings that are sent under their own name, in the order in which they are sent.
const PASSED: &[&str] = &[
    "temperature",
    "top_p",
    "stop",
    "seed",
    "frequency_penalty",
    "presence_penalty",
    "service_tier",
    "user",
    "metadata",
    "prompt_cache_key",
    "prompt_cache_retention",
    "safety_identifier",
    "store",
    "top_logprobs",
];

/// Puts the settings of a request over those of its profile, whichever name they use.
pub(crate) fn overlay(profile: &mut Map<String, Value>, request: &Map<String, Value>) {
    for family in FAMILIES {
        if family.iter().any(|name| request.contains_key(*name)) {
            profile.retain(|name, _| !family.contains(&name.as_str()));
        }
    }
    for (name, value) in request {
        profile.insert(name.clone(), value.clone());
    }
}

/// Checks the settings that the engine interprets, whatever the provider.
///
/// # Errors
/// [`ErrorKind::Configuration`] naming the setting, what it must be and what it is.
pub(crate) fn check(settings: &Map<String, Value>) -> Result<()> {
    for name in LIMITS {
        if let Some(value) = present(settings, name)
            && value.as_u64().is_none_or(|limit| limit == 0)
        {
            return Err(invalid(name, "a whole number from 1", value));
        }
    }
    for name in ["stop", "stop_sequences"] {
        let is_text = |value: &Value| match value {
            Value::String(_) => true,
            Value::Array(list) => list.iter().all(Value::is_string),
            _ => false,
        };
        if let Some(value) = present(settings, name).filter(|value| !is_text(value)) {
            return Err(invalid(name, "a string or a list of strings", value));
        }
    }
    match present(settings, "parallel_tool_calls") {
        Some(value) if !value.is_boolean() => {
            Err(invalid("parallel_tool_calls", "true or false", value))
        }
        _ => Ok(()),
    }
}

/// The error for a setting of a wrong kind.
pub(super) fn invalid(name: &str, expected: &str, got: &Value) -> Error {
    let got = match got {
        Value::Number(number) => number.to_string(),
        other => kind_of(other).to_owned(),
    };
    Error::new(
        ErrorKind::Configuration,
        format!("the setting {name} must be {expected}, got {got}"),
    )
}

/// How hard the model shall think.
///
/// # Errors
/// [`ErrorKind::Configuration`] when it is no string.
pub(super) fn effort(settings: &Map<String, Value>) -> Result<Option<&Value>> {
    match present(settings, "reasoning_effort") {
        Some(other) if !other.is_string() => Err(invalid(
            "reasoning_effort",
            "a string such as \"low\" or \"high\"",
            other,
        )),
        effort => Ok(effort),
    }
}

/// Copies the settings that keep their name; the others are for the caller or are ignored.
pub(super) fn pass(settings: &Map<String, Value>, body: &mut Map<String, Value>) {
    for name in PASSED {
        let value = match *name {
            "stop" => present(settings, "stop").or_else(|| present(settings, "stop_sequences")),
            name => present(settings, name),
        };
        if let Some(value) = value {
            body.insert((*name).to_owned(), value.clone());
        }
    }
}

/// A setting that is there and not null.
pub(super) fn present<'a>(settings: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    settings.get(name).filter(|value| !value.is_null())
}

/// Merges the object `extra_body` over the finished body: the way to send a field that the
/// engine does not know. Its top-level keys replace those of the body.
pub(super) fn merge_extra(
    settings: &Map<String, Value>,
    body: &mut Map<String, Value>,
) -> Result<()> {
    match present(settings, "extra_body") {
        None => Ok(()),
        Some(Value::Object(extra)) => {
            for (key, value) in extra {
                body.insert(key.clone(), value.clone());
            }
            Ok(())
        }
        Some(other) => Err(Error::new(
            ErrorKind::Configuration,
            format!(
                "the setting extra_body must be an object whose keys are added to the request, \
                 not {}",
                kind_of(other)
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn a_request_wins_over_its_profile_by_any_name() {
        let mut settings = map(json!({"max_tokens": 9, "stop": "x", "seed": 1, "temperature": 0}));
        let request = map(json!({"max_output_tokens": 5, "stop_sequences": null, "seed": 2}));
        overlay(&mut settings, &request);
        let expected =
            json!({"seed": 2, "temperature": 0, "max_output_tokens": 5, "stop_sequences": null});
        assert_eq!(Value::Object(settings), expected);
    }

    #[test]
    fn what_the_engine_interprets_must_make_sense() {
        for good in [
            json!({"max_tokens": 1, "stop": ["a"], "parallel_tool_calls": false}),
            json!({"max_tokens": null, "stop_sequences": "a", "anything": {}}),
        ] {
            assert!(check(&map(good)).is_ok());
        }
        for (bad, said) in [
            (
                json!({"max_tokens": "many"}),
                "max_tokens must be a whole number from 1, got a string",
            ),
            (json!({"max_output_tokens": 0}), "from 1, got 0"),
            (
                json!({"stop": [1]}),
                "stop must be a string or a list of strings",
            ),
            (
                json!({"parallel_tool_calls": "yes"}),
                "parallel_tool_calls must be true or false",
            ),
        ] {
            let error = check(&map(bad)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration);
            assert!(error.message().contains(said), "{error}");
        }
    }
}
