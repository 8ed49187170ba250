//! Requests.

use serde_json::{Map, Value, json};

use super::cache;
use super::settings;
use super::thinking::Thinking;
use super::tools;
use super::turns::Turns;
use crate::error::Result;
use crate::model::{ModelRequest, OutputSchema};
use crate::protocol::schema_dialect::{Dialect, reduce};
use crate::protocol::settings::{merge_extra, present};

/// Renders a request; equal requests give equal bytes.
///
/// # Errors
/// [`ErrorKind::Configuration`](crate::ErrorKind::Configuration) for a setting of a wrong shape, and
/// [`ErrorKind::UnsupportedInput`](crate::ErrorKind::UnsupportedInput) for an attachment in a form that models do not take.
pub(crate) fn render_request(
    model: &str,
    request: &ModelRequest,
    thinking: Thinking,
) -> Result<Map<String, Value>> {
    let mut turns = Turns::new(&request.messages)?;
    let offered = !request.tools.is_empty();
    let (mut definitions, choice): (Vec<Value>, _) = if offered {
        let choice = tools::choice(
            request.tool_choice.as_ref(),
            present(&request.settings, "tool_choice"),
            present(&request.settings, "parallel_tool_calls"),
        );
        (
            request.tools.iter().map(tools::definition).collect(),
            choice,
        )
    } else {
        // The service refuses calls in the history of a request that defines no tools.
        let former: Vec<Value> = turns
            .called()
            .iter()
            .map(|name| tools::former(name))
            .collect();
        let choice = (!former.is_empty()).then(|| json!({"type": "none"}));
        (former, choice)
    };
    if let Some(setting) = present(&request.settings, cache::SETTING) {
        cache::mark(setting, &mut definitions, &mut turns)?;
    }
    let mut body = Map::new();
    body.insert("model".into(), json!(model));
    body.insert("stream".into(), json!(true));
    settings::apply(
        &request.settings,
        thinking,
        tools::forces(choice.as_ref()),
        &mut body,
    )?;
    if !definitions.is_empty() {
        body.insert("tools".into(), Value::Array(definitions));
    }
    if let Some(choice) = choice {
        body.insert("tool_choice".into(), choice);
    }
    if let Some(schema) = &request.output_schema {
        answer_in(schema, &mut body);
    }
    if !turns.system.is_empty() {
        let system = std::mem::take(&mut turns.system);
        body.insert("system".into(), Value::Array(system));
    }
    body.insert("messages".into(), turns.into_value());
    merge_extra(&request.settings, &mut body)?;
    Ok(body)
}

/// Asks for an answer that is JSON of this schema. The format has no place for its name.
fn answer_in(schema: &OutputSchema, body: &mut Map<String, Value>) {
    let reduced = reduce(Dialect::Anthropic, &schema.schema).schema;
    let config = body.entry("output_config").or_insert_with(|| json!({}));
    if let Value::Object(config) = config {
        config.insert(
            "format".into(),
            json!({"type": "json_schema", "schema": reduced}),
        );
    }
}
