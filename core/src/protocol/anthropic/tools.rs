//! Tools and which of them the model must call.

use serde_json::{Map, Value, json};

use crate::model::ToolChoice;
use crate::protocol::schema_dialect::{Dialect, tool_schema};
use crate::tool::ToolDefinition;

/// The definition of a tool.
pub(super) fn definition(tool: &ToolDefinition) -> Value {
    let mut map = Map::new();
    map.insert("name".into(), json!(tool.name()));
    map.insert("description".into(), json!(tool.description()));
    let (schema, strict) = tool_schema(Dialect::Anthropic, Dialect::AnthropicTool, tool);
    map.insert("input_schema".into(), schema);
    if strict {
        map.insert("strict".into(), json!(true));
    }
    Value::Object(map)
}

/// The definition of a tool that the conversation mentions but that is offered no more.
pub(super) fn former(name: &str) -> Value {
    json!({
        "name": name, "description": "No longer available.",
        "input_schema": {"type": "object", "properties": {}},
    })
}

/// The choice between the tools; `None` leaves it to the model.
pub(super) fn choice(
    required: Option<&ToolChoice>,
    setting: Option<&Value>,
    parallel: Option<&Value>,
) -> Option<Value> {
    let mut choice = match (required, setting) {
        (Some(ToolChoice::Required), _) => Some(json!({"type": "any"})),
        (Some(ToolChoice::Named(name)), _) => Some(json!({"type": "tool", "name": name})),
        (None, Some(Value::String(word))) => Some(match word.as_str() {
            "required" => json!({"type": "any"}),
            word => json!({"type": word}),
        }),
        (None, other) => other.cloned(),
    };
    if let Some(Value::Bool(parallel)) = parallel {
        let choice = choice.get_or_insert_with(|| json!({"type": "auto"}));
        let is_none = choice.get("type").is_some_and(|kind| kind == "none");
        if let (false, Some(choice)) = (is_none, choice.as_object_mut()) {
            choice.insert("disable_parallel_tool_use".into(), json!(!parallel));
        }
    }
    choice
}

/// Whether a choice makes the model call a tool, which it cannot do while it thinks.
pub(super) fn forces(choice: Option<&Value>) -> bool {
    choice
        .and_then(|choice| choice.get("type"))
        .is_some_and(|kind| kind == "any" || kind == "tool")
}
