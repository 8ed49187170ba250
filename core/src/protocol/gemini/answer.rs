//! The parts of one answer in the making.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use serde_json::{Map, Value, json};

use super::signature::{self, FIELD};
use crate::error::Result;
use crate::event::StreamEvent;
use crate::message::{Content, Reasoning, ToolUse};
use crate::protocol::tool_arguments::tool_use;

/// Begins the ids that are made here for calls without one. The service never gave them, so it does
/// not get them back.
const OWN_ID: &str = "generated-";

/// Characters of the answer's id that an id of a call repeats; other services limit its length.
const MAX_ANSWER_ID: usize = 40;

/// Whether the id was made here.
pub(super) fn is_own_id(id: &str) -> bool {
    id.starts_with(OWN_ID)
}

/// Content in the order in which it arrived.
#[derive(Debug, Default)]
pub(super) struct Answer {
    blocks: Vec<Block>,
    calls: usize,
}

/// A part, or neighbours that are pieces of one. What carries a signature stays on its own.
#[derive(Debug)]
enum Block {
    Text(String, Option<String>),
    Thought(String, Option<String>),
    Call(ToolUse, Option<String>),
    Image(Content, Option<String>),
    /// What only the service understands.
    Opaque(Value),
}

impl Answer {
    pub(super) fn has_calls(&self) -> bool {
        self.calls > 0
    }

    /// Takes one part. `answer_id` makes ids of calls unique.
    ///
    /// # Errors
    /// [`ErrorKind::MalformedToolCall`](crate::ErrorKind::MalformedToolCall) for a call without a
    /// name, or whose arguments are no object.
    pub(super) fn push(
        &mut self,
        part: &Map<String, Value>,
        answer_id: Option<&str>,
        events: &mut Vec<StreamEvent>,
    ) -> Result<()> {
        let signature = part
            .get(FIELD)
            .and_then(Value::as_str)
            .filter(|signature| !signature.is_empty())
            .map(str::to_owned);
        if let Some(Value::Object(call)) = part.get("functionCall") {
            return self.call(call, signature, answer_id, events);
        }
        if let Some(image) = part.get("inlineData").and_then(image) {
            self.blocks.push(Block::Image(image, signature));
        } else if let Some(Value::String(text)) = part.get("text") {
            let thought = part.get("thought").and_then(Value::as_bool) == Some(true);
            self.text(text, thought, signature, events);
        } else if signature.is_some() || part.values().any(Value::is_object) {
            self.blocks.push(Block::Opaque(Value::Object(part.clone())));
        }
        Ok(())
    }

    fn text(
        &mut self,
        text: &str,
        thought: bool,
        signature: Option<String>,
        events: &mut Vec<StreamEvent>,
    ) {
        if !text.is_empty() {
            let text = text.to_owned();
            events.push(if thought {
                StreamEvent::ReasoningDelta { text }
            } else {
                StreamEvent::TextDelta { text }
            });
        }
        let unsigned = signature.is_none();
        match (self.blocks.last_mut(), thought) {
            (Some(Block::Text(known, None)), false) if unsigned => known.push_str(text),
            (Some(Block::Thought(known, None)), true) if unsigned => known.push_str(text),
            _ if text.is_empty() && unsigned => {}
            (_, true) => self.blocks.push(Block::Thought(text.to_owned(), signature)),
            // The end of an answer's text is often signed with an empty part.
            (_, false) if text.is_empty() => {
                let part = json!({"text": "", FIELD: signature});
                self.blocks.push(Block::Opaque(part));
            }
            (_, false) => self.blocks.push(Block::Text(text.to_owned(), signature)),
        }
    }

    fn call(
        &mut self,
        call: &Map<String, Value>,
        signature: Option<String>,
        answer_id: Option<&str>,
        events: &mut Vec<StreamEvent>,
    ) -> Result<()> {
        let name = call.get("name").and_then(Value::as_str).unwrap_or_default();
        let id = match call.get("id").and_then(Value::as_str) {
            Some(id) if !id.is_empty() && !self.has_id(id) => id.to_owned(),
            _ => self.own_id(answer_id),
        };
        let tool_use = match call.get("args") {
            Some(Value::Object(input)) if !name.is_empty() => ToolUse {
                id,
                name: name.to_owned(),
                input: input.clone(),
            },
            None | Some(Value::Null) => tool_use(&id, name, "")?,
            Some(Value::String(text)) => tool_use(&id, name, text)?,
            Some(other) => tool_use(&id, name, &other.to_string())?,
        };
        let index = u32::try_from(self.calls).unwrap_or(u32::MAX);
        self.calls += 1;
        events.push(StreamEvent::ToolCallStart {
            index,
            id: tool_use.id.clone(),
            name: tool_use.name.clone(),
        });
        events.push(StreamEvent::ToolCallStop {
            index,
            tool_use: Arc::new(tool_use.clone()),
        });
        self.blocks.push(Block::Call(tool_use, signature));
        Ok(())
    }

    fn has_id(&self, id: &str) -> bool {
        let mut blocks = self.blocks.iter();
        blocks.any(|block| matches!(block, Block::Call(tool_use, _) if tool_use.id == id))
    }

    /// An id that no other call of the conversation has.
    fn own_id(&self, answer_id: Option<&str>) -> String {
        let answer: String = answer_id
            .unwrap_or_default()
            .chars()
            .filter(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'))
            .take(MAX_ANSWER_ID)
            .collect();
        if answer.is_empty() {
            format!("{OWN_ID}{:016x}-{}", fastrand::u64(..), self.calls)
        } else {
            format!("{OWN_ID}{answer}-{}", self.calls)
        }
    }

    /// The content of the answer.
    pub(super) fn take_content(&mut self) -> Vec<Content> {
        let mut content = Vec::with_capacity(self.blocks.len());
        for block in std::mem::take(&mut self.blocks) {
            match block {
                Block::Text(text, signed) => add(&mut content, Content::Text(text), signed),
                Block::Image(image, signed) => add(&mut content, image, signed),
                Block::Thought(text, signature) => content.push(Content::Reasoning(Reasoning {
                    text,
                    signature,
                    ..Reasoning::default()
                })),
                Block::Call(tool_use, signed) => {
                    if let Some(signed) = signed {
                        signature::keep_for_call(&mut content, &tool_use.id, &signed);
                    }
                    content.push(Content::ToolUse(tool_use));
                }
                Block::Opaque(part) => signature::keep_part(&mut content, part),
            }
        }
        content
    }
}

fn add(content: &mut Vec<Content>, block: Content, signed: Option<String>) {
    if let Some(signed) = signed {
        signature::keep(content, &signed);
    }
    content.push(block);
}

/// An image that the model made.
fn image(data: &Value) -> Option<Content> {
    let text = |name: &str| data.get(name).and_then(Value::as_str);
    let media_type = text("mimeType").filter(|kind| kind.starts_with("image/"))?;
    let encoded = text("data")?;
    let bytes = STANDARD
        .decode(encoded)
        .or_else(|_| URL_SAFE.decode(encoded))
        .ok()?;
    Some(Content::image(bytes, media_type))
}
