//! The conversation as contents: who speaks, and parts.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::calls::is_own_id;
use super::signature::{FIELD, Kept, NOT_OURS, kept, of_calls};
use super::tool_results::{Names, result_parts};
use super::traits::Traits;
use crate::message::{Attachment, Content, Message, Role, ToolUse};

/// The conversation, with its instructions apart.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// Parts of the instructions.
    pub(super) instructions: Vec<Value>,
    /// `{role, parts}` in turn; neighbours of one role are one.
    pub(super) turns: Vec<Value>,
}

/// Renders the conversation.
pub(super) fn contents(messages: &[Message], traits: Traits) -> Contents {
    let mut all = Contents::default();
    let mut names = Names::default();
    for message in messages {
        match message.role {
            Role::System | Role::Developer => {
                all.instructions
                    .extend(message.content.iter().filter_map(plain_part));
            }
            Role::Assistant => {
                names.learn(message);
                all.turn("model", model_parts(&message.content, traits));
            }
            Role::User | Role::Tool => {
                // Results come first: the service wants them right behind the calls they answer.
                let mut parts = result_parts(&message.content, &names, traits);
                parts.extend(message.content.iter().filter_map(plain_part));
                all.turn("user", parts);
            }
        }
    }
    all
}

impl Contents {
    fn turn(&mut self, role: &str, parts: Vec<Value>) {
        if parts.is_empty() {
            return;
        }
        if let Some(last) = self.turns.last_mut()
            && last.get("role").and_then(Value::as_str) == Some(role)
            && let Some(Value::Array(known)) = last.get_mut("parts")
        {
            known.extend(parts);
            return;
        }
        self.turns.push(json!({"role": role, "parts": parts}));
    }
}

/// The parts of what the model said, in its order.
fn model_parts(content: &[Content], traits: Traits) -> Vec<Value> {
    let signatures = of_calls(content);
    // The service wants one signature in each step, on its first call.
    let mut unsigned = traits.wants_signatures && signatures.is_empty();
    let mut next: Option<&str> = None;
    let mut parts = Vec::with_capacity(content.len());
    for block in content {
        match block {
            Content::Reasoning(reasoning) => {
                if !reasoning.text.is_empty() || reasoning.signature.is_some() {
                    let part = json!({"text": reasoning.text, "thought": true});
                    parts.push(signed(part, reasoning.signature.as_deref()));
                }
                for detail in kept(reasoning) {
                    match detail {
                        Kept::Signature(signature) => next = Some(signature),
                        Kept::Part(part) => parts.push(part.clone()),
                    }
                }
            }
            Content::ToolUse(tool_use) => {
                next = None;
                let own = signature_of(tool_use, &signatures, unsigned);
                unsigned = false;
                parts.push(signed(call(tool_use), own));
            }
            other => {
                let signature = next.take();
                parts.extend(plain_part(other).map(|part| signed(part, signature)));
            }
        }
    }
    parts
}

fn signature_of<'a>(
    tool_use: &ToolUse,
    signatures: &HashMap<&str, &'a str>,
    unsigned: bool,
) -> Option<&'a str> {
    let own = signatures.get(tool_use.id.as_str()).copied();
    own.or(unsigned.then_some(NOT_OURS))
}

fn signed(mut part: Value, signature: Option<&str>) -> Value {
    if let (Some(signature), Some(part)) = (signature, part.as_object_mut()) {
        part.insert(FIELD.into(), json!(signature));
    }
    part
}

fn call(tool_use: &ToolUse) -> Value {
    let mut call = Map::new();
    if !is_own_id(&tool_use.id) {
        call.insert("id".into(), json!(tool_use.id));
    }
    call.insert("name".into(), json!(tool_use.name));
    call.insert("args".into(), Value::Object(tool_use.input.clone()));
    json!({"functionCall": call})
}

/// Text or an attachment as a part. The service refuses empty text.
pub(super) fn plain_part(block: &Content) -> Option<Value> {
    match block {
        Content::Text(text) if text.is_empty() => None,
        Content::Text(text) => Some(json!({"text": text})),
        Content::Image(attachment) | Content::Document(attachment) => Some(media_part(attachment)),
        Content::Reasoning(_) | Content::ToolUse(_) | Content::ToolResult(_) => None,
    }
}

/// An attachment as a part: its bytes, or where the service finds them.
pub(super) fn media_part(attachment: &Attachment) -> Value {
    let text = std::str::from_utf8(&attachment.data).unwrap_or_default();
    let remote = ["https://", "http://", "gs://"]
        .iter()
        .any(|scheme| text.starts_with(scheme));
    if remote {
        return json!({"fileData": {"mimeType": essence(&attachment.media_type), "fileUri": text}});
    }
    if let Some((media_type, data)) = inline_url(text) {
        return json!({"inlineData": {"mimeType": essence(media_type), "data": data}});
    }
    json!({"inlineData": {
        "mimeType": essence(&attachment.media_type), "data": STANDARD.encode(&attachment.data),
    }})
}

/// A media type as the service lists it: it refuses parameters, and other names of a type.
fn essence(media_type: &str) -> String {
    let essence = media_type.split(';').next().unwrap_or_default();
    match essence.trim().to_ascii_lowercase().as_str() {
        "image/jpg" => "image/jpeg".to_owned(),
        other => other.to_owned(),
    }
}

/// Media type and base64 of a data URL.
fn inline_url(url: &str) -> Option<(&str, &str)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    let media_type = head.strip_suffix(";base64")?;
    let media_type = media_type.split(';').next().unwrap_or_default();
    (!media_type.is_empty()).then_some((media_type, data))
}
