//! Requests.

use serde_json::{Map, Value, json};

use super::quirks::Quirks;
use crate::error::Result;
use crate::message::{Attachment, Content, Message, Reasoning, Role, ToolResultContent};
use crate::model::{ModelRequest, OutputSchema, ToolChoice};
use crate::protocol::attachment;
use crate::protocol::schema_dialect::{Dialect, result_schema, tool_schema};
use crate::protocol::settings::{self, LIMITS, merge_extra, pass, present};
use crate::tool::ToolDefinition;

/// Renders a request; equal requests give equal bytes.
///
/// # Errors
/// [`ErrorKind::Configuration`](crate::ErrorKind::Configuration) for a setting of a wrong shape.
pub(crate) fn render_request(
    model: &str,
    request: &ModelRequest,
    quirks: Quirks,
) -> Result<Map<String, Value>> {
    let mut body = Map::new();
    body.insert("model".into(), json!(model));
    body.insert("stream".into(), json!(true));
    let mut input = Vec::with_capacity(request.messages.len());
    for message in request.messages.iter() {
        items(message, &mut input);
    }
    body.insert("input".into(), Value::Array(input));
    if !request.tools.is_empty() {
        body.insert("tools".into(), request.tools.iter().map(tool).collect());
        if let Some(choice) = &request.tool_choice {
            body.insert("tool_choice".into(), tool_choice(choice));
        }
        if let Some(parallel) = present(&request.settings, "parallel_tool_calls") {
            body.insert("parallel_tool_calls".into(), parallel.clone());
        }
    }
    let mut text = Map::new();
    if let Some(schema) = &request.output_schema {
        text.insert("format".into(), format(schema));
    }
    if let Some(verbosity) = present(&request.settings, "verbosity") {
        text.insert("verbosity".into(), verbosity.clone());
    }
    if !text.is_empty() {
        body.insert("text".into(), Value::Object(text));
    }
    // The format has one limit, whatever the setting is called.
    let limit = LIMITS
        .iter()
        .rev()
        .find_map(|name| present(&request.settings, name));
    if let Some(limit) = limit {
        body.insert("max_output_tokens".into(), limit.clone());
    }
    pass(&request.settings, &mut body);
    reasoning(&request.settings, quirks, &mut body)?;
    for name in RESPONSES_ONLY {
        if let Some(value) = present(&request.settings, name) {
            body.insert((*name).to_owned(), value.clone());
        }
    }
    merge_extra(&request.settings, &mut body)?;
    Ok(body)
}

/// Settings that only this format has.
const RESPONSES_ONLY: &[&str] = &["truncation", "max_tool_calls", "include"];

/// Adds how the model shall think: the effort, and what else the setting `reasoning` says, such as
/// `{"summary": "auto"}`.
fn reasoning(
    settings: &Map<String, Value>,
    quirks: Quirks,
    body: &mut Map<String, Value>,
) -> Result<()> {
    let mut reasoning = match present(settings, "reasoning") {
        None => Map::new(),
        Some(Value::Object(reasoning)) => reasoning.clone(),
        Some(other) => {
            return Err(settings::invalid(
                "reasoning",
                "an object such as {\"summary\": \"auto\"}",
                other,
            ));
        }
    };
    if let Some(effort) = settings::effort(settings)? {
        reasoning.entry("effort").or_insert_with(|| effort.clone());
    }
    if reasoning.is_empty() {
        return Ok(());
    }
    let thinks = reasoning
        .get("effort")
        .is_none_or(|effort| effort != "none");
    if quirks.encrypted_reasoning && thinks {
        body.insert("include".into(), json!(["reasoning.encrypted_content"]));
    }
    body.insert("reasoning".into(), Value::Object(reasoning));
    Ok(())
}

/// A tool's result: text, or a list of parts when it has more than text.
fn output(content: &ToolResultContent) -> Value {
    match content {
        ToolResultContent::Blocks(blocks)
            if blocks
                .iter()
                .any(|block| matches!(block, Content::Image(_) | Content::Document(_))) =>
        {
            blocks
                .iter()
                .filter_map(|block| part(block, Role::User))
                .collect()
        }
        content => json!(content.text()),
    }
}

/// Appends the items of one message, in the order of its blocks.
fn items(message: &Message, input: &mut Vec<Value>) {
    let mut parts = Vec::new();
    // Reasoning is only accepted in front of what came of it, so it waits for that.
    let mut thoughts = Vec::new();
    for block in message.content.iter() {
        match block {
            Content::Text(_) | Content::Image(_) | Content::Document(_) => {
                parts.extend(part(block, message.role));
            }
            Content::Reasoning(reasoning) => {
                flush(message.role, &mut thoughts, &mut parts, input);
                thoughts.extend(replayable(reasoning).cloned());
            }
            Content::ToolUse(tool_use) => {
                flush(message.role, &mut thoughts, &mut parts, input);
                input.append(&mut thoughts);
                input.push(json!({
                    "type": "function_call", "call_id": tool_use.id, "name": tool_use.name,
                    "arguments": Value::Object(tool_use.input.clone()).to_string(),
                }));
            }
            Content::ToolResult(result) => {
                flush(message.role, &mut thoughts, &mut parts, input);
                input.push(json!({
                    "type": "function_call_output", "call_id": result.tool_use_id,
                    "output": output(&result.content),
                }));
            }
        }
    }
    flush(message.role, &mut thoughts, &mut parts, input);
}

fn flush(role: Role, thoughts: &mut Vec<Value>, parts: &mut Vec<Value>, input: &mut Vec<Value>) {
    if parts.is_empty() {
        return;
    }
    input.append(thoughts);
    let content = std::mem::take(parts);
    input.push(match role {
        // The service has no parts for what an assistant said before, only a plain text: output
        // parts must carry the identifiers of a stored answer.
        Role::Assistant => {
            let text: String = content.iter().filter_map(Value::as_str).collect();
            json!({"role": "assistant", "content": text})
        }
        // Only results belong to tools, and they are their own items.
        Role::Tool => json!({"role": "user", "content": content}),
        role => json!({"role": role.as_str(), "content": content}),
    });
}

/// The reasoning items that can be sent back: those that carry their own content, encrypted. Bare
/// ids only mean something to a service that stores answers, and only for a while.
fn replayable(reasoning: &Reasoning) -> impl Iterator<Item = &Value> {
    reasoning.details.iter().flatten().filter(|item| {
        item.get("type").and_then(Value::as_str) == Some("reasoning")
            && item.get("encrypted_content").is_some_and(Value::is_string)
    })
}

fn part(block: &Content, role: Role) -> Option<Value> {
    match block {
        // The service refuses parts in a message of the assistant, and attachments too.
        Content::Text(text) if role == Role::Assistant => Some(json!(text)),
        _ if role == Role::Assistant => None,
        Content::Text(text) => Some(json!({"type": "input_text", "text": text})),
        Content::Image(image) => Some(json!({
            "type": "input_image", "image_url": attachment::url(image), "detail": "auto",
        })),
        Content::Document(document) => Some(file(document)),
        Content::Reasoning(_) | Content::ToolUse(_) | Content::ToolResult(_) => None,
    }
}

fn file(document: &Attachment) -> Value {
    match attachment::existing_url(document) {
        Some(url) if url.starts_with("http") => json!({"type": "input_file", "file_url": url}),
        _ => json!({
            "type": "input_file", "filename": attachment::file_name(document),
            "file_data": attachment::url(document),
        }),
    }
}

fn tool(definition: &ToolDefinition) -> Value {
    let (parameters, strict) = tool_schema(Dialect::OpenAiStrict, Dialect::OpenAiTool, definition);
    // Without the field the service would enforce the schema, and make optional keys required.
    json!({
        "type": "function", "name": definition.name(), "description": definition.description(),
        "parameters": parameters, "strict": strict,
    })
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Required => json!("required"),
        ToolChoice::Named(name) => json!({"type": "function", "name": name}),
    }
}

fn format(schema: &OutputSchema) -> Value {
    let (sent, strict) = result_schema(Dialect::OpenAiStrict, Dialect::OpenAiTool, &schema.schema);
    let mut format = json!({
        "type": "json_schema", "name": schema.name, "schema": sent, "strict": strict,
    });
    if let (Some(description), Some(format)) = (&schema.description, format.as_object_mut()) {
        format.insert("description".into(), json!(description));
    }
    format
}
