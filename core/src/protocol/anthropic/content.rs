//! Content blocks as the format writes them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::attachment;
use crate::error::Result;
use crate::message::{
    Content, Reasoning, Role, ToolResult, ToolResultContent, ToolStatus, ToolUse,
};

/// The block for `block` in a turn of `role`; `None` for what the service would refuse there.
///
/// # Errors
/// [`ErrorKind::UnsupportedInput`](crate::ErrorKind::UnsupportedInput) for an attachment in a form that models do not take.
pub(super) fn render(block: &Content, role: Role) -> Result<Option<Value>> {
    let said = role == Role::Assistant;
    Ok(match block {
        Content::Text(text) => self::text(text),
        // A model's own turn has no attachments.
        Content::Image(image) if !said => Some(attachment::image(image)?),
        Content::Document(document) if !said => Some(attachment::document(document)?),
        Content::Reasoning(reasoning) if said => thinking(reasoning),
        Content::ToolUse(tool_use) if said => Some(call(tool_use)),
        Content::ToolResult(result) if !said => Some(answer(result)?),
        _ => None,
    })
}

/// A text block; the service refuses blank ones.
pub(super) fn text(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

/// Reasoning as the model wrote it. Without its signature it is nothing that the service accepts.
fn thinking(reasoning: &Reasoning) -> Option<Value> {
    if let Some(bytes) = &reasoning.redacted_content {
        let data = match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => STANDARD.encode(bytes),
        };
        return Some(json!({"type": "redacted_thinking", "data": data}));
    }
    let signature = reasoning.signature.as_ref()?;
    Some(json!({"type": "thinking", "thinking": reasoning.text, "signature": signature}))
}

fn call(tool_use: &ToolUse) -> Value {
    json!({
        "type": "tool_use", "id": identifier(&tool_use.id), "name": identifier(&tool_use.name),
        "input": tool_use.input,
    })
}

fn answer(result: &ToolResult) -> Result<Value> {
    let failed = result.status == ToolStatus::Error;
    let content = match &result.content {
        ToolResultContent::Text(text) => json!(text),
        ToolResultContent::Blocks(blocks) => {
            let mut list = Vec::with_capacity(blocks.len());
            for block in blocks {
                if !matches!(block, Content::ToolResult(_)) {
                    list.extend(render(block, Role::User)?);
                }
            }
            Value::Array(list)
        }
    };
    let is_empty = content.as_str().is_some_and(|text| text.trim().is_empty())
        || content.as_array().is_some_and(Vec::is_empty);
    let mut answer = Map::new();
    answer.insert("type".into(), json!("tool_result"));
    answer.insert("tool_use_id".into(), json!(identifier(&result.tool_use_id)));
    if !is_empty {
        answer.insert("content".into(), content);
    } else if failed {
        // A failure must say something.
        answer.insert(
            "content".into(),
            json!("The tool failed without a message."),
        );
    }
    answer.insert("is_error".into(), json!(failed));
    Ok(Value::Object(answer))
}

/// An id or a name in the letters that the service accepts. Those of other services, which a
/// conversation may bring along, have others; each is spelled as its number.
pub(super) fn identifier(text: &str) -> String {
    let mut spelled = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_ascii_alphanumeric() || letter == '_' || letter == '-' {
            spelled.push(letter);
        } else {
            spelled.push_str(&format!("_{:x}", u32::from(letter)));
        }
    }
    spelled
}
