//! Settings: which are fields of the request, which of its `generationConfig`.

use serde_json::{Map, Value, json};

use super::names::{entry, respelled};
use super::thinking;
use super::traits::Traits;
use crate::error::{Error, ErrorKind, Result};
use crate::message::kind_of;
use crate::model::OutputSchema;
use crate::protocol::schema_dialect::{Dialect, reduce};
use crate::protocol::settings::present;

/// Fields of the request itself.
const TOP_LEVEL: &[&str] = &[
    "safetySettings",
    "labels",
    "cachedContent",
    "serviceTier",
    "modelArmorConfig",
    "continuationToken",
    "store",
];

/// Names that other services have for a field, the preferred one first.
const ALIASES: &[(&str, &[&str])] = &[
    (
        "maxOutputTokens",
        &["max_output_tokens", "max_completion_tokens", "max_tokens"],
    ),
    ("stopSequences", &["stop_sequences", "stop"]),
    ("candidateCount", &["candidate_count", "n"]),
];

/// Settings that are handled elsewhere, or that only mean something to other services: this one
/// refuses fields that it does not know.
const NOT_SENT: &[&str] = &[
    "reasoning_effort",
    "thinking_config",
    "thinkingConfig",
    "generation_config",
    "generationConfig",
    "tool_config",
    "toolConfig",
    "extra_body",
    "additional_model_request_fields",
    "echo_reasoning_content",
    "metadata",
    "parallel_tool_calls",
    "prompt_cache",
    "prompt_cache_key",
    "reasoning",
    "session_id",
    "user",
];

/// Adds what the settings say to the request.
///
/// # Errors
/// [`ErrorKind::Configuration`] for a setting of a wrong shape.
pub(super) fn apply(
    settings: &Map<String, Value>,
    schema: Option<&OutputSchema>,
    traits: Traits,
    body: &mut Map<String, Value>,
) -> Result<()> {
    let mut config = base(settings)?;
    for (field, names) in ALIASES {
        if let Some(value) = names.iter().find_map(|name| present(settings, name)) {
            config.insert((*field).to_owned(), value.clone());
        }
    }
    for (name, value) in settings {
        if value.is_null() || is_handled(name) {
            continue;
        }
        let (field, value) = entry(name, value);
        if TOP_LEVEL.contains(&field.as_str()) {
            body.insert(field, value);
        } else {
            config.insert(field, value);
        }
    }
    if let Some(stop @ Value::String(_)) = config.get_mut("stopSequences") {
        *stop = json!([stop.take()]);
    }
    if let Some(thinking) = thinking::config(settings, traits)? {
        config.insert("thinkingConfig".into(), thinking);
    }
    if let Some(schema) = schema {
        config.insert("responseMimeType".into(), json!("application/json"));
        config.insert("responseJsonSchema".into(), sent(schema));
    }
    if !config.is_empty() {
        body.insert("generationConfig".into(), Value::Object(config));
    }
    Ok(())
}

fn is_handled(name: &str) -> bool {
    NOT_SENT.contains(&name)
        || thinking::FIELDS.contains(&name)
        || ALIASES.iter().any(|(_, names)| names.contains(&name))
}

/// The setting `generation_config`, which may hold any field in either spelling.
fn base(settings: &Map<String, Value>) -> Result<Map<String, Value>> {
    let name = ["generation_config", "generationConfig"]
        .into_iter()
        .find(|name| present(settings, name).is_some());
    let Some(config) = name.and_then(|name| settings.get(name)) else {
        return Ok(Map::new());
    };
    match respelled(config) {
        Value::Object(config) => Ok(config),
        _ => Err(Error::new(
            ErrorKind::Configuration,
            format!(
                "the setting generation_config must be an object of fields, not {}",
                kind_of(config)
            ),
        )),
    }
}

/// The schema of an answer as it is sent; what the result is for is said where it has a place.
fn sent(schema: &OutputSchema) -> Value {
    let mut sent = reduce(Dialect::Gemini, &schema.schema).schema;
    if let (Some(description), Some(sent)) = (&schema.description, sent.as_object_mut())
        && !sent.contains_key("$ref")
    {
        sent.entry("description")
            .or_insert_with(|| json!(description));
    }
    sent
}

/// The setting `tool_config` in the format's spelling.
///
/// # Errors
/// [`ErrorKind::Configuration`] when it is no object.
pub(super) fn tool_config(settings: &Map<String, Value>) -> Result<Map<String, Value>> {
    let given = ["tool_config", "toolConfig"]
        .into_iter()
        .find_map(|name| present(settings, name));
    match given.map(respelled) {
        None => Ok(Map::new()),
        Some(Value::Object(config)) => Ok(config),
        Some(other) => Err(Error::new(
            ErrorKind::Configuration,
            format!(
                "the setting tool_config must be an object, not {}",
                kind_of(&other)
            ),
        )),
    }
}
