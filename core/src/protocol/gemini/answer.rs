//! The parts of one answer in the making.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use serde_json::{Map, Value, json};

use super::calls::Calls;
use super::signature::{self, FIELD};
use crate::error::Result;
use crate::event::StreamEvent;
use crate::message::{Content, Reasoning, ToolUse};

/// Content in the order in which it arrived.
#[derive(Debug, Default)]
pub(super) struct Answer {
    blocks: Vec<Block>,
    calls: Calls,
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
    /// An answer that may be given by calling `answer_tool`.
    pub(super) fn new(answer_tool: Option<String>) -> Self {
        Self {
            blocks: Vec::new(),
            calls: Calls::new(answer_tool),
        }
    }

    pub(super) fn has_calls(&self) -> bool {
        self.calls.any()
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
            let whole = self.calls.push(call, signature, answer_id, events)?;
            self.blocks
                .extend(whole.map(|(tool_use, signature)| Block::Call(tool_use, signature)));
            return Ok(());
        }
        let thought = part.get("thought").and_then(Value::as_bool) == Some(true);
        // A draft that belongs to the thinking is no part of the answer.
        let drawn = part.get("inlineData").filter(|_| !thought);
        if let Some(image) = drawn.and_then(image) {
            self.blocks.push(Block::Image(image, signature));
        } else if let Some(Value::String(text)) = part.get("text") {
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

    /// Ends the answer.
    ///
    /// # Errors
    /// [`ErrorKind::MalformedToolCall`](crate::ErrorKind::MalformedToolCall) for a call whose
    /// arguments did not arrive in full.
    pub(super) fn close(&mut self, events: &mut Vec<StreamEvent>) -> Result<()> {
        self.calls.check_whole()?;
        if let Some(text) = self.calls.take_answer() {
            // What the model said before it is not in the form that was asked for.
            self.blocks
                .retain(|block| !matches!(block, Block::Text(..)));
            self.text(&text, false, None, events);
        }
        Ok(())
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
