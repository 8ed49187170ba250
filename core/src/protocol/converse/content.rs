//! Content blocks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::attachments::{self, Names};
use super::family::Family;
use crate::error::Result;
use crate::message::{Content, Reasoning, ToolResult, ToolResultContent, ToolUse};

/// The longest identifier of a call and the longest name of a tool.
const MAX_ID: usize = 64;

/// What a result without text says: the service refuses blank text.
const NO_OUTPUT: &str = "(no output)";

/// Whose turn a block is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    User,
    Assistant,
}

/// The block as the service takes it; `None` for one that has no place there.
///
/// # Errors
/// [`ErrorKind::Configuration`](crate::ErrorKind::Configuration) for an attachment in a form that the
/// service does not take.
pub(super) fn render(
    block: &Content,
    place: Place,
    family: Family,
    names: &mut Names,
) -> Result<Option<Value>> {
    Ok(match (block, place) {
        (Content::Text(content), _) => text(content),
        (Content::Image(image), Place::User) => Some(attachments::image(image)?),
        (Content::Document(document), Place::User) => Some(attachments::document(document, names)?),
        (Content::ToolResult(given), Place::User) => Some(result(given, names)?),
        (Content::ToolUse(tool_use), Place::Assistant) => Some(call(tool_use)),
        (Content::Reasoning(thought), Place::Assistant) => reasoning(thought, family),
        // An assistant has neither attachments nor results, and a user neither calls nor thoughts.
        _ => None,
    })
}

/// A text block; `None` for blank text, which the service refuses.
pub(super) fn text(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"text": text}))
}

fn call(tool_use: &ToolUse) -> Value {
    json!({"toolUse": {
        "toolUseId": id(&tool_use.id), "name": name(&tool_use.name), "input": tool_use.input,
    }})
}

fn result(result: &ToolResult, names: &mut Names) -> Result<Value> {
    let mut content = Vec::new();
    match &result.content {
        ToolResultContent::Text(given) => content.extend(text(given)),
        ToolResultContent::Blocks(blocks) => {
            for block in blocks {
                content.extend(match block {
                    Content::Text(given) => text(given),
                    Content::Image(image) => Some(attachments::image(image)?),
                    Content::Document(document) => Some(attachments::document(document, names)?),
                    Content::Reasoning(_) | Content::ToolUse(_) | Content::ToolResult(_) => None,
                });
            }
        }
    }
    if content.is_empty() {
        content.push(json!({"text": NO_OUTPUT}));
    }
    Ok(json!({"toolResult": {
        "toolUseId": id(&result.tool_use_id), "content": content, "status": result.status.as_str(),
    }}))
}

fn reasoning(reasoning: &Reasoning, family: Family) -> Option<Value> {
    if family == Family::DeepSeek {
        return None;
    }
    if let Some(bytes) = &reasoning.redacted_content {
        let redacted = STANDARD.encode(bytes);
        return Some(json!({"reasoningContent": {"redactedContent": redacted}}));
    }
    match &reasoning.signature {
        Some(signature) => Some(json!({"reasoningContent": {
            "reasoningText": {"text": reasoning.text, "signature": signature},
        }})),
        // Claude refuses its thoughts without the signature that proves them.
        None if family == Family::Claude || reasoning.text.trim().is_empty() => None,
        None => Some(json!({"reasoningContent": {"reasoningText": {"text": reasoning.text}}})),
    }
}

/// The identifier of a call, which may come from another service, as this one takes it. Equal ones
/// stay equal, and different ones different.
fn id(id: &str) -> String {
    legal(id, |letter| matches!(letter, '_' | '.' | ':' | '-'))
}

/// The name of a tool, which a model may have made up.
fn name(name: &str) -> String {
    legal(name, |letter| matches!(letter, '_' | '-'))
}

fn legal(text: &str, mark: impl Fn(char) -> bool) -> String {
    let allowed = |letter: &char| letter.is_ascii_alphanumeric() || mark(*letter);
    if !text.is_empty() && text.len() <= MAX_ID && text.chars().all(|letter| allowed(&letter)) {
        return text.to_owned();
    }
    let kept: String = text.chars().filter(allowed).take(40).collect();
    format!("{kept}-{:016x}", fingerprint(text))
}

/// FNV-1a: the same in every process.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
