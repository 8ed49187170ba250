//! A conversation as text, for the model that summarises it.

use crate::message::{Attachment, Content, Message, Role, ToolResultContent, ToolStatus};

/// The messages, one paragraph for each. Attachments are named, and reasoning is left out.
pub(super) fn transcript(messages: &[&Message]) -> String {
    let mut text = String::new();
    for message in messages {
        let speaker = match message.role {
            Role::Assistant => "Assistant",
            Role::Tool => "Tool",
            Role::User => "User",
            Role::System | Role::Developer => "Instructions",
        };
        let parts: Vec<String> = message.content.iter().filter_map(part).collect();
        if parts.is_empty() {
            continue;
        }
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(speaker);
        text.push_str(": ");
        text.push_str(&parts.join("\n"));
    }
    text
}

fn part(block: &Content) -> Option<String> {
    match block {
        Content::Text(text) if text.trim().is_empty() => None,
        Content::Text(text) => Some(text.clone()),
        Content::Image(image) => Some(named("image", image)),
        Content::Document(document) => Some(named("document", document)),
        Content::Reasoning(_) => None,
        Content::ToolUse(call) => Some(format!(
            "[calls the tool {} with {}]",
            call.name,
            serde_json::Value::Object(call.input.clone())
        )),
        Content::ToolResult(result) => {
            let what = match result.status {
                ToolStatus::Success => "result",
                ToolStatus::Error => "error",
            };
            let text = match &result.content {
                ToolResultContent::Text(text) => text.clone(),
                ToolResultContent::Blocks(blocks) => {
                    let parts: Vec<String> = blocks.iter().filter_map(part).collect();
                    parts.join("\n")
                }
            };
            Some(format!("[{what}] {text}"))
        }
    }
}

fn named(kind: &str, attachment: &Attachment) -> String {
    match &attachment.name {
        Some(name) => format!("[{kind} {name}, {}]", attachment.media_type),
        None => format!("[{kind}, {}]", attachment.media_type),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_block_becomes_text() {
        let messages: Vec<Message> = [
            json!({"role": "user", "content": ["Look.", {"type": "image", "data": "iVBORw==",
                "encoding": "base64", "media_type": "image/png"}]}),
            json!({"role": "assistant", "content": [{"type": "reasoning", "text": "hm"},
                {"type": "tool_use", "id": "1", "name": "lookup", "input": {"a": 1}}]}),
            json!({"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "1",
                "content": "nothing", "status": "error"}]}),
        ]
        .iter()
        .map(|message| Message::from_value(message).unwrap())
        .collect();
        assert_eq!(
            transcript(&messages.iter().collect::<Vec<_>>()),
            "User: Look.\n[image, image/png]\n\nAssistant: [calls the tool lookup with {\"a\":1}]\n\n\
             Tool: [error] nothing"
        );
    }
}
