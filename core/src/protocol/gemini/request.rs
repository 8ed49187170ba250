//! Requests.

use serde_json::{Map, Value, json};

use super::answer_tool;
use super::contents::contents;
use super::generation::{self, tool_config};
use super::traits::Traits;
use crate::error::Result;
use crate::model::{ModelRequest, ToolChoice};
use crate::protocol::schema_dialect::Dialect;
use crate::protocol::settings::merge_extra;
use crate::tool::ToolDefinition;

/// Renders a request; equal requests give equal bytes.
///
/// # Errors
/// [`ErrorKind::Configuration`](crate::ErrorKind::Configuration) for a setting of a wrong shape.
pub(crate) fn render_request(request: &ModelRequest, traits: Traits) -> Result<Map<String, Value>> {
    let mut body = Map::new();
    let all = contents(&request.messages, traits);
    body.insert("contents".into(), Value::Array(all.turns));
    if !all.instructions.is_empty() {
        body.insert(
            "systemInstruction".into(),
            json!({"parts": all.instructions}),
        );
    }
    let answer_tool = answer_tool::name(request, traits);
    let mut config = tool_config(&request.settings)?;
    if !request.tools.is_empty() {
        let mut declarations: Vec<Value> = request.tools.iter().map(declaration).collect();
        if let (Some(name), Some(schema)) = (&answer_tool, &request.output_schema) {
            declarations.push(answer_tool::declaration(name, schema));
            answer_tool::require(&mut config);
        }
        body.insert(
            "tools".into(),
            json!([{"functionDeclarations": declarations}]),
        );
        if let Some(choice) = &request.tool_choice {
            choose(choice, &mut config);
        }
    }
    if !config.is_empty() {
        body.insert("toolConfig".into(), Value::Object(config));
    }
    // Beside a choice of tool the form could not be kept anyway.
    let formed = request.tools.is_empty() || traits.schema_beside_tools;
    let schema = request.output_schema.as_ref().filter(|_| formed);
    generation::apply(&request.settings, schema, traits, &mut body)?;
    merge_extra(&request.settings, &mut body)?;
    Ok(body)
}

fn declaration(tool: &ToolDefinition) -> Value {
    json!({
        "name": tool.name(), "description": tool.description(),
        "parametersJsonSchema": tool.reduced(Dialect::Gemini).schema,
    })
}

/// Adds the choice to what the application configured about calls.
fn choose(choice: &ToolChoice, config: &mut Map<String, Value>) {
    let calling = config
        .entry("functionCallingConfig")
        .or_insert_with(|| json!({}));
    if let Some(calling) = calling.as_object_mut() {
        calling.insert("mode".into(), json!("ANY"));
        if let ToolChoice::Named(name) = choice {
            calling.insert("allowedFunctionNames".into(), json!([name]));
        }
    }
}
