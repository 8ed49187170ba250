//! Requests.

use serde_json::{Map, Value, json};

use super::quirks::{CacheMarker, Quirks, ReasoningField};
use super::reasoning;
use crate::error::{Error, ErrorKind, Result};
use crate::message::{Attachment, Content, Message, Role, ToolUse};
use crate::model::{ModelRequest, OutputSchema, ToolChoice};
use crate::protocol::attachment;
use crate::protocol::schema_dialect::{Dialect, result_schema, tool_schema};
use crate::protocol::settings::{self, merge_extra, pass, present};
use crate::tool::ToolDefinition;

/// Renders a request; equal requests give equal bytes.
///
/// # Errors
/// [`ErrorKind::Configuration`](crate::ErrorKind::Configuration) for a setting of a wrong shape.
pub(crate) fn render_request(
    model: &str,
    request: &ModelRequest,
    mut quirks: Quirks,
) -> Result<Map<String, Value>> {
    if present(&request.settings, "prompt_cache") == Some(&Value::Bool(false)) {
        quirks.cache = CacheMarker::None;
    }
    let mut body = Map::new();
    body.insert("model".into(), json!(model));
    body.insert("stream".into(), json!(true));
    body.insert("stream_options".into(), json!({"include_usage": true}));
    let echo = match present(&request.settings, ECHO) {
        None => false,
        Some(Value::Bool(echo)) => *echo,
        Some(other) => return Err(invalid_echo(other)),
    };
    body.insert("messages".into(), messages(&request.messages, quirks, echo));
    if !request.tools.is_empty() {
        body.insert("tools".into(), request.tools.iter().map(tool).collect());
        if let Some(choice) = &request.tool_choice {
            body.insert("tool_choice".into(), tool_choice(choice));
        }
        if let Some(parallel) = present(&request.settings, "parallel_tool_calls") {
            body.insert("parallel_tool_calls".into(), parallel.clone());
        }
    }
    if let Some(schema) = &request.output_schema {
        body.insert("response_format".into(), response_format(schema));
    }
    limits(&request.settings, &mut body);
    pass(&request.settings, &mut body);
    for name in CHAT_ONLY {
        if let Some(value) = present(&request.settings, name) {
            body.insert((*name).to_owned(), value.clone());
        }
    }
    effort(&request.settings, quirks.reasoning, &mut body)?;
    if quirks.cache == CacheMarker::Request {
        body.insert("cache_control".into(), json!({"type": "ephemeral"}));
    }
    merge_extra(&request.settings, &mut body)?;
    Ok(body)
}

/// Settings that only this format has.
const CHAT_ONLY: &[&str] = &["logit_bias", "logprobs", "verbosity"];

/// Whether a tool turn's reasoning goes back as `reasoning_content`: DeepSeek's services and some
/// others insist on it, and the rest refuse it.
const ECHO: &str = "echo_reasoning_content";

fn invalid_echo(value: &Value) -> Error {
    Error::new(
        ErrorKind::Configuration,
        format!("the setting {ECHO} must be true or false, got {value}"),
    )
}

fn limits(settings: &Map<String, Value>, body: &mut Map<String, Value>) {
    for name in ["max_tokens", "max_completion_tokens", "max_output_tokens"] {
        if let Some(limit) = present(settings, name) {
            body.insert(name.into(), limit.clone());
        }
    }
}

fn effort(
    settings: &Map<String, Value>,
    field: ReasoningField,
    body: &mut Map<String, Value>,
) -> Result<()> {
    let effort = settings::effort(settings)?;
    match field {
        ReasoningField::Effort => {
            if let Some(effort) = effort {
                body.insert("reasoning_effort".into(), effort.clone());
            }
        }
        ReasoningField::Object => {
            if let Some(reasoning) = present(settings, "reasoning") {
                body.insert("reasoning".into(), reasoning.clone());
            } else if let Some(effort) = effort {
                body.insert("reasoning".into(), json!({"effort": effort}));
            }
        }
    }
    Ok(())
}

fn messages(messages: &[Message], quirks: Quirks, echo: bool) -> Value {
    let mut marked = quirks.cache != CacheMarker::Instructions;
    let mut entries = Vec::with_capacity(messages.len());
    for message in messages {
        // Results come first: the service wants them right behind the calls they answer.
        for block in message.content.iter() {
            if let Content::ToolResult(result) = block {
                entries.push(json!({
                    "role": "tool", "tool_call_id": result.tool_use_id,
                    "content": attachment::result_text(&result.content),
                }));
            }
        }
        let parts = message
            .content
            .iter()
            .filter_map(|block| part(block, message.role));
        let mut parts: Vec<Value> = parts.collect();
        let instructs = matches!(message.role, Role::System | Role::Developer);
        if instructs && !marked {
            marked = true;
            mark_last_text(&mut parts);
        }
        let mut entry = Map::new();
        // Only results may have the tool role, and those are their own entries.
        let role = match message.role {
            Role::Tool => Role::User,
            role => role,
        };
        entry.insert("role".into(), json!(role.as_str()));
        if !parts.is_empty() {
            entry.insert("content".into(), Value::Array(parts));
        }
        if role == Role::Assistant && quirks.replay_reasoning {
            reasoning::replay(&message.content, &mut entry);
        }
        let calls: Vec<Value> = message.tool_uses().map(call).collect();
        if !calls.is_empty() {
            if echo && role == Role::Assistant {
                reasoning::echo(&message.content, &mut entry);
            }
            entry.insert("tool_calls".into(), Value::Array(calls));
        }
        if entry.contains_key("content") || entry.contains_key("tool_calls") {
            entries.push(Value::Object(entry));
        }
    }
    Value::Array(entries)
}

fn mark_last_text(parts: &mut [Value]) {
    let last_text = parts
        .iter_mut()
        .rev()
        .filter_map(Value::as_object_mut)
        .find(|part| part.get("type").and_then(Value::as_str) == Some("text"));
    if let Some(part) = last_text {
        part.insert("cache_control".into(), json!({"type": "ephemeral"}));
    }
}

fn part(block: &Content, role: Role) -> Option<Value> {
    match block {
        Content::Text(text) => Some(json!({"type": "text", "text": text})),
        // The format has attachments in a user's messages only; a model may have made others.
        _ if !matches!(role, Role::User | Role::Tool) => None,
        Content::Image(image) => {
            Some(json!({"type": "image_url", "image_url": {"url": attachment::url(image)}}))
        }
        Content::Document(document) => Some(file(document)),
        Content::Reasoning(_) | Content::ToolUse(_) | Content::ToolResult(_) => None,
    }
}

fn file(document: &Attachment) -> Value {
    json!({"type": "file", "file": {
        "filename": attachment::file_name(document), "file_data": attachment::url(document),
    }})
}

fn call(tool_use: &ToolUse) -> Value {
    json!({"id": tool_use.id, "type": "function", "function": {
        "name": tool_use.name, "arguments": json_text(&tool_use.input),
    }})
}

/// The text of a call's arguments.
fn json_text(input: &Map<String, Value>) -> String {
    // A map of JSON values has nothing that JSON cannot express.
    serde_json::to_string(input).unwrap_or_default()
}

fn tool(definition: &ToolDefinition) -> Value {
    let (parameters, strict) = tool_schema(Dialect::OpenAiStrict, Dialect::OpenAiTool, definition);
    let mut function = json!({
        "name": definition.name(), "description": definition.description(),
        "parameters": parameters,
    });
    if strict && let Some(function) = function.as_object_mut() {
        function.insert("strict".into(), json!(true));
    }
    json!({"type": "function", "function": function})
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Required => json!("required"),
        ToolChoice::Named(name) => json!({"type": "function", "function": {"name": name}}),
    }
}

fn response_format(schema: &OutputSchema) -> Value {
    let (sent, strict) = result_schema(Dialect::OpenAiStrict, Dialect::OpenAiTool, &schema.schema);
    let mut format = json!({"name": schema.name, "schema": sent, "strict": strict});
    if let (Some(description), Some(format)) = (&schema.description, format.as_object_mut()) {
        format.insert("description".into(), json!(description));
    }
    json!({"type": "json_schema", "json_schema": format})
}
