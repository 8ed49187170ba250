//! Results of tool calls.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::calls::is_own_id;
use super::contents::media_part;
use super::traits::Traits;
use crate::message::{Content, Message, ToolResult, ToolResultContent, ToolStatus};

/// Which tool each call was for: the service matches results by that.
#[derive(Debug, Default)]
pub(super) struct Names<'a>(HashMap<&'a str, &'a str>);

impl<'a> Names<'a> {
    /// Takes the calls of `message`. An id that comes again means the later call.
    pub(super) fn learn(&mut self, message: &'a Message) {
        for tool_use in message.tool_uses() {
            self.0.insert(&tool_use.id, &tool_use.name);
        }
    }

    /// The tool of the call; its id when the conversation has no such call.
    fn of<'b>(&self, id: &'b str) -> &'b str
    where
        'a: 'b,
    {
        self.0.get(id).copied().unwrap_or(id)
    }
}

/// The results in `content` as parts, and then what they hold that older models cannot read inside
/// of a result.
pub(super) fn result_parts(content: &[Content], names: &Names<'_>, traits: Traits) -> Vec<Value> {
    let mut parts = Vec::new();
    let mut beside = Vec::new();
    for block in content {
        if let Content::ToolResult(result) = block {
            let media = media(&result.content);
            if traits.result_parts {
                parts.push(response(result, names, media));
            } else {
                beside.extend(media);
                parts.push(response(result, names, Vec::new()));
            }
        }
    }
    parts.append(&mut beside);
    parts
}

fn response(result: &ToolResult, names: &Names<'_>, media: Vec<Value>) -> Value {
    let id = result.tool_use_id.as_str();
    let mut response = Map::new();
    if !is_own_id(id) {
        response.insert("id".into(), json!(id));
    }
    response.insert("name".into(), json!(names.of(id)));
    let field = match result.status {
        ToolStatus::Success => "output",
        ToolStatus::Error => "error",
    };
    response.insert("response".into(), json!({field: result.content.text()}));
    if !media.is_empty() {
        response.insert("parts".into(), Value::Array(media));
    }
    json!({"functionResponse": response})
}

fn media(content: &ToolResultContent) -> Vec<Value> {
    let blocks = match content {
        ToolResultContent::Text(_) => return Vec::new(),
        ToolResultContent::Blocks(blocks) => blocks,
    };
    let attachments = blocks.iter().filter_map(|block| match block {
        Content::Image(attachment) | Content::Document(attachment) => Some(attachment),
        _ => None,
    });
    attachments.map(media_part).collect()
}
