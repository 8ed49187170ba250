//! Settings as the format names them.

use serde_json::{Map, Value, json};

use super::family::Family;
use crate::error::{Error, ErrorKind, Result};
use crate::message::kind_of;
use crate::protocol::anthropic::Thinking;
use crate::protocol::settings::{LIMITS, present};

/// Names of fields in settings and in the format.
type Names = &'static [(&'static str, &'static str)];

/// Settings that are objects of the format, and the names of their fields here and there.
const OBJECTS: [(&str, &str, Names); 3] = [
    (
        "guardrail_config",
        "guardrailConfig",
        &[
            ("guardrail_identifier", "guardrailIdentifier"),
            ("guardrail_version", "guardrailVersion"),
            ("stream_processing_mode", "streamProcessingMode"),
        ],
    ),
    ("performance_config", "performanceConfig", &[]),
    // Its keys are the application's.
    ("request_metadata", "requestMetadata", &[]),
];

/// Adds the settings to the body; those that the service has no field for are ignored.
///
/// # Errors
/// [`ErrorKind::Configuration`] for a setting of a wrong shape, and for a reasoning effort of a model
/// that is not known to have one.
pub(super) fn apply(
    model: &str,
    settings: &Map<String, Value>,
    forced: bool,
    body: &mut Map<String, Value>,
) -> Result<()> {
    let inference = inference(settings);
    if !inference.is_empty() {
        body.insert("inferenceConfig".into(), Value::Object(inference));
    }
    let mut additional = Map::new();
    let limit = LIMITS.iter().find_map(|name| present(settings, name));
    if let Some(effort) = present(settings, "reasoning_effort") {
        let limit = limit.and_then(Value::as_u64);
        let mut fields = reasoning(model, effort, limit)?;
        // The service refuses thinking together with a call that is demanded.
        let thinking = fields.shift_remove("thinking");
        if let Some(thinking) = thinking.filter(|thinking| !(forced && is_on(thinking))) {
            additional.insert("thinking".into(), thinking);
        }
        if let Some(config) = fields.shift_remove("output_config") {
            body.insert("outputConfig".into(), config);
        }
    }
    if Family::of(model) == Family::Claude
        && let Some(top_k) = present(settings, "top_k")
    {
        additional.insert("top_k".into(), top_k.clone());
    }
    if let Some(own) = object(settings, "additional_model_request_fields")? {
        additional.extend(own.clone());
    }
    if !additional.is_empty() {
        body.insert(
            "additionalModelRequestFields".into(),
            Value::Object(additional),
        );
    }
    configurations(settings, body)
}

fn inference(settings: &Map<String, Value>) -> Map<String, Value> {
    let mut config = Map::new();
    let mut take = |field: &str, names: &[&str]| {
        if let Some(value) = names.iter().find_map(|name| present(settings, name)) {
            config.insert(field.into(), value.clone());
        }
    };
    take("maxTokens", &LIMITS);
    take("temperature", &["temperature"]);
    take("topP", &["top_p"]);
    take("stopSequences", &["stop_sequences", "stop"]);
    if let Some(Value::String(one)) = config.get("stopSequences") {
        let list = json!([one]);
        config.insert("stopSequences".into(), list);
    }
    config
}

/// What makes the model think as hard as the setting says.
fn reasoning(model: &str, effort: &Value, limit: Option<u64>) -> Result<Map<String, Value>> {
    if Family::of(model) == Family::Claude {
        return Thinking::of(model).fields(effort, limit);
    }
    if effort == "none" {
        return Ok(Map::new());
    }
    Err(Error::new(
        ErrorKind::Configuration,
        format!(
            "the setting reasoning_effort is not available for model {model:?} on Bedrock: only \
             Claude models have it; use \"none\", or send the model's own field with \
             additional_model_request_fields"
        ),
    ))
}

fn is_on(thinking: &Value) -> bool {
    thinking.get("type").is_some_and(|kind| kind != "disabled")
}

fn configurations(settings: &Map<String, Value>, body: &mut Map<String, Value>) -> Result<()> {
    for (setting, field, names) in OBJECTS {
        if let Some(given) = object(settings, setting)? {
            let renamed = given.iter().map(|(key, value)| {
                let known = names.iter().find(|(name, _)| name == key);
                let key = known.map_or(key.as_str(), |(_, field)| field);
                (key.to_owned(), value.clone())
            });
            body.insert(field.into(), Value::Object(renamed.collect()));
        }
    }
    match present(settings, "service_tier") {
        None => {}
        Some(Value::String(tier)) => {
            body.insert("serviceTier".into(), json!({"type": tier}));
        }
        Some(other) => {
            body.insert("serviceTier".into(), other.clone());
        }
    }
    if let Some(paths) = present(settings, "additional_model_response_field_paths") {
        body.insert("additionalModelResponseFieldPaths".into(), paths.clone());
    }
    Ok(())
}

fn object<'a>(
    settings: &'a Map<String, Value>,
    name: &str,
) -> Result<Option<&'a Map<String, Value>>> {
    match present(settings, name) {
        None => Ok(None),
        Some(Value::Object(object)) => Ok(Some(object)),
        Some(other) => Err(Error::new(
            ErrorKind::Configuration,
            format!(
                "the setting {name} must be an object, not {}",
                kind_of(other)
            ),
        )),
    }
}
