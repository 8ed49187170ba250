//! Tools and which of them the model must call.

use serde_json::{Map, Value, json};

use super::turns::Turns;
use crate::model::ToolChoice;
use crate::protocol::schema_dialect::{Dialect, tool_schema};
use crate::tool::ToolDefinition;

/// What a tool says that is needed for the sake of the conversation only.
const FORMER: &str = "No longer available.";

/// The tools of a request. The service refuses a conversation with calls or results when there are
/// none, so those that were called are defined once more.
pub(super) fn offered(tools: &[ToolDefinition], turns: &Turns) -> Vec<Value> {
    if !tools.is_empty() {
        return tools.iter().map(definition).collect();
    }
    if !turns.mention_tools() {
        return Vec::new();
    }
    match turns.called() {
        names if names.is_empty() => vec![former("tool")],
        names => names.into_iter().map(former).collect(),
    }
}

fn definition(tool: &ToolDefinition) -> Value {
    let (schema, strict) = tool_schema(Dialect::Bedrock, Dialect::BedrockTool, tool);
    let mut spec = Map::new();
    spec.insert("name".into(), json!(tool.name()));
    spec.insert("description".into(), json!(tool.description()));
    spec.insert("inputSchema".into(), json!({"json": schema}));
    if strict {
        spec.insert("strict".into(), json!(true));
    }
    json!({"toolSpec": spec})
}

fn former(name: &str) -> Value {
    json!({"toolSpec": {
        "name": name, "description": FORMER,
        "inputSchema": {"json": {"type": "object", "properties": {}}},
    }})
}

/// A choice that makes the model call a tool.
pub(super) fn choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Required => json!({"any": {}}),
        ToolChoice::Named(name) => json!({"tool": {"name": name}}),
    }
}
