//! Requests.

use serde_json::{Map, Value, json};

use super::family::Family;
use super::turns::Turns;
use super::{cache, settings, tools};
use crate::error::Result;
use crate::model::{ModelRequest, OutputSchema};
use crate::protocol::schema_dialect::{Dialect, reduce};
use crate::protocol::settings::merge_extra;

/// Renders a request; equal requests give equal bytes. Keys of schemas, tool inputs and additional
/// fields are the application's and stay as they are.
///
/// # Errors
/// [`ErrorKind::Configuration`](crate::ErrorKind::Configuration) for a setting of a wrong shape or one
/// that the model does not have, and for an attachment in a form that the service does not take.
pub(crate) fn render_request(model: &str, request: &ModelRequest) -> Result<Map<String, Value>> {
    let family = Family::of(model);
    let mut turns = Turns::new(&request.messages, family)?;
    let mut offered = tools::offered(&request.tools, &turns);
    let choice = if request.tools.is_empty() {
        None
    } else {
        request.tool_choice.as_ref().map(tools::choice)
    };
    if let Some(marker) = cache::marker(&request.settings)? {
        cache::mark(&marker, family, &mut offered, &mut turns);
    }
    let mut body = Map::new();
    let system = std::mem::take(&mut turns.system);
    body.insert("messages".into(), turns.into_value());
    body.insert("system".into(), Value::Array(system));
    settings::apply(model, &request.settings, choice.is_some(), &mut body)?;
    if !offered.is_empty() {
        let mut config = Map::new();
        config.insert("tools".into(), Value::Array(offered));
        if let Some(choice) = choice {
            config.insert("toolChoice".into(), choice);
        }
        body.insert("toolConfig".into(), Value::Object(config));
    }
    if let Some(schema) = &request.output_schema {
        answer_in(schema, &mut body);
    }
    merge_extra(&request.settings, &mut body)?;
    Ok(body)
}

/// Asks for an answer that is JSON of this schema, which the service takes as text.
fn answer_in(schema: &OutputSchema, body: &mut Map<String, Value>) {
    let reduced = reduce(Dialect::Bedrock, &schema.schema).schema;
    let mut definition = Map::new();
    definition.insert("schema".into(), json!(reduced.to_string()));
    definition.insert("name".into(), json!(schema.name));
    if let Some(description) = &schema.description {
        definition.insert("description".into(), json!(description));
    }
    let config = body.entry("outputConfig").or_insert_with(|| json!({}));
    if let Value::Object(config) = config {
        config.insert(
            "textFormat".into(),
            json!({"type": "json_schema", "structure": {"jsonSchema": definition}}),
        );
    }
}
