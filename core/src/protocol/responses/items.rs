//! The output items of one answer in the making.

use std::sync::Arc;

use serde_json::Value;

use crate::error::Result;
use crate::event::StreamEvent;
use crate::message::{Content, Reasoning, ToolUse};
use crate::protocol::tool_arguments::tool_use;

/// Output items in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Items {
    items: Vec<Item>,
}

/// One output item: whichever of text, reasoning and call it turned out to be.
#[derive(Debug)]
pub(super) struct Item {
    /// Position in the answer as events have it, unlike any other item's.
    index: u32,
    /// Position as the service has it.
    position: Option<u32>,
    id: String,
    text: Option<String>,
    reasoning: Option<Thought>,
    call: Option<Call>,
    done: bool,
}

/// What stands between two parts of a thought, whose titles would run into the text before them.
const PARAGRAPH: &str = "\n\n";

#[derive(Debug, Default)]
struct Thought {
    /// A part is over, and the next one, if it says anything, is a paragraph of its own.
    ended: bool,
    text: String,
    /// The item as the service completed it.
    item: Option<Value>,
}

#[derive(Debug, Default)]
struct Call {
    id: String,
    name: String,
    arguments: String,
    /// Bytes of the arguments that were delivered.
    delivered: usize,
    started: bool,
    finished: Option<ToolUse>,
}

impl Items {
    /// The item with this id or at this position; a new one when there is none.
    pub(super) fn at(&mut self, position: Option<u32>, id: &str) -> &mut Item {
        let known = self.find(position, id);
        self.known_or_new(known, position, id)
    }

    /// The item that begins with this id at this position. Some services have all items at one position:
    /// another id behind an item that is done is another item.
    pub(super) fn begin(&mut self, position: Option<u32>, id: &str) -> &mut Item {
        let goes_on = |item: &Item| !item.done || id.is_empty() || item.id == id;
        let known = self.find(position, id);
        let known = known.filter(|at| self.items.get(*at).is_some_and(goes_on));
        self.known_or_new(known, position, id)
    }

    fn find(&self, position: Option<u32>, id: &str) -> Option<usize> {
        let same_id = |item: &Item| !id.is_empty() && item.id == id;
        let by_id = self.items.iter().rposition(same_id);
        // Ids may change between the events of an item; its position does not.
        by_id.or_else(|| match position {
            Some(_) => self
                .items
                .iter()
                .rposition(|item| item.position == position),
            None if id.is_empty() => self.items.len().checked_sub(1),
            None => None,
        })
    }

    // The position was just found or made.
    #[allow(clippy::indexing_slicing)]
    fn known_or_new(&mut self, known: Option<usize>, position: Option<u32>, id: &str) -> &mut Item {
        let at = known.unwrap_or_else(|| {
            let is_free = |index: &u32| self.items.iter().all(|item| item.index != *index);
            let next = self.items.iter().map(|item| item.index.saturating_add(1));
            self.items.push(Item {
                index: position.filter(is_free).or(next.max()).unwrap_or(0),
                position,
                id: id.to_owned(),
                text: None,
                reasoning: None,
                call: None,
                done: false,
            });
            self.items.len() - 1
        });
        &mut self.items[at]
    }

    pub(super) fn has_calls(&self) -> bool {
        self.items.iter().any(|item| item.call.is_some())
    }

    /// Ends what is still open, as at the end of an answer.
    pub(super) fn close(&mut self, events: &mut Vec<StreamEvent>) -> Result<()> {
        for item in &mut self.items {
            item.close(events)?;
        }
        Ok(())
    }

    /// The content of the answer.
    pub(super) fn take_content(&mut self) -> Vec<Content> {
        let mut items = std::mem::take(&mut self.items);
        items.sort_by_key(|item| item.index);
        items.into_iter().flat_map(Item::into_content).collect()
    }
}

impl Item {
    pub(super) fn push_text(&mut self, delta: &str, events: &mut Vec<StreamEvent>) {
        if delta.is_empty() {
            return;
        }
        self.text.get_or_insert_default().push_str(delta);
        events.push(StreamEvent::TextDelta {
            text: delta.to_owned(),
        });
    }

    pub(super) fn push_reasoning(&mut self, delta: &str, events: &mut Vec<StreamEvent>) {
        if delta.is_empty() {
            return;
        }
        let thought = self.reasoning.get_or_insert_default();
        let begins = std::mem::take(&mut thought.ended) && !thought.text.is_empty();
        let text = if begins {
            format!("{PARAGRAPH}{delta}")
        } else {
            delta.to_owned()
        };
        thought.text.push_str(&text);
        events.push(StreamEvent::ReasoningDelta { text });
    }

    /// What is thought from here on is a part of its own.
    pub(super) fn next_paragraph(&mut self) {
        if let Some(thought) = &mut self.reasoning {
            thought.ended = true;
        }
    }

    pub(super) fn push_arguments(&mut self, delta: &str, events: &mut Vec<StreamEvent>) {
        if self.done {
            return;
        }
        let index = self.index;
        let call = self.call.get_or_insert_default();
        call.arguments.push_str(delta);
        call.deliver(index, events);
    }

    /// Takes complete arguments, which win over what was streamed.
    pub(super) fn set_arguments(&mut self, arguments: &str, events: &mut Vec<StreamEvent>) {
        if self.done {
            return;
        }
        let index = self.index;
        let call = self.call.get_or_insert_default();
        call.replace(arguments);
        call.deliver(index, events);
    }

    /// Takes the item as the service announces it.
    pub(super) fn announce(&mut self, value: &Value, events: &mut Vec<StreamEvent>) {
        let field = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
        if self.id.is_empty() {
            field("id").clone_into(&mut self.id);
        }
        if self.done || field("type") != "function_call" {
            return;
        }
        let index = self.index;
        let call = self.call.get_or_insert_default();
        if call.id.is_empty() {
            let id = Some(field("call_id")).filter(|id| !id.is_empty());
            id.unwrap_or(field("id")).clone_into(&mut call.id);
        }
        if call.name.is_empty() {
            field("name").clone_into(&mut call.name);
        }
        call.deliver(index, events);
    }

    /// Takes the item as the service completed it.
    pub(super) fn complete(&mut self, value: &Value, events: &mut Vec<StreamEvent>) -> Result<()> {
        if self.done {
            return Ok(());
        }
        self.announce(value, events);
        match value.get("type").and_then(Value::as_str) {
            Some("message") if self.text.is_none() => {
                // Nothing was streamed: the whole text is here.
                self.push_text(&joined(value.get("content"), &["text", "refusal"]), events);
            }
            Some("reasoning") => {
                if self.reasoning.is_none() {
                    for parts in ["content", "summary"] {
                        let parts = value.get(parts).and_then(Value::as_array);
                        for part in parts.into_iter().flatten() {
                            let text = part.get("text").and_then(Value::as_str);
                            self.push_reasoning(text.unwrap_or_default(), events);
                            self.next_paragraph();
                        }
                    }
                }
                self.reasoning.get_or_insert_default().item = Some(value.clone());
            }
            Some("function_call") => {
                if let Some(arguments) = value.get("arguments") {
                    let text = match arguments {
                        Value::String(text) => text.clone(),
                        Value::Null => String::new(),
                        other => other.to_string(),
                    };
                    self.set_arguments(&text, events);
                }
            }
            _ => {}
        }
        self.close(events)
    }

    fn close(&mut self, events: &mut Vec<StreamEvent>) -> Result<()> {
        if self.done {
            return Ok(());
        }
        self.done = true;
        if let Some(call) = &mut self.call {
            let tool_use = tool_use(&call.id, &call.name, &call.arguments)?;
            events.push(StreamEvent::ToolCallStop {
                index: self.index,
                tool_use: Arc::new(tool_use.clone()),
            });
            call.finished = Some(tool_use);
        }
        Ok(())
    }

    /// Mostly one block; a service that makes a message of a call gets both.
    fn into_content(self) -> Vec<Content> {
        let call = self.call.and_then(|call| call.finished);
        let blocks = [
            self.reasoning.and_then(Thought::into_content),
            self.text.map(Content::Text),
            call.map(Content::ToolUse),
        ];
        blocks.into_iter().flatten().collect()
    }
}

impl Thought {
    fn into_content(self) -> Option<Content> {
        // An item that can be sent back is kept whole, because it must return unchanged.
        let details = self
            .item
            .filter(|item| item.get("encrypted_content").is_some_and(Value::is_string))
            .map(|item| vec![item]);
        if details.is_none() && self.text.is_empty() {
            return None;
        }
        Some(Content::Reasoning(Reasoning {
            text: self.text,
            details,
            ..Reasoning::default()
        }))
    }
}

impl Call {
    fn replace(&mut self, arguments: &str) {
        if arguments.is_empty() && !self.arguments.is_empty() {
            return;
        }
        // What was delivered stays delivered; only a continuation of it can still follow.
        if !arguments.starts_with(&self.arguments) {
            self.delivered = arguments.len();
        }
        arguments.clone_into(&mut self.arguments);
    }

    fn deliver(&mut self, index: u32, events: &mut Vec<StreamEvent>) {
        if !self.started {
            if self.id.is_empty() || self.name.is_empty() {
                return;
            }
            self.started = true;
            events.push(StreamEvent::ToolCallStart {
                index,
                id: self.id.clone(),
                name: self.name.clone(),
            });
        }
        if let Some(fresh) = self.arguments.get(self.delivered..)
            && !fresh.is_empty()
        {
            events.push(StreamEvent::ToolCallDelta {
                index,
                arguments: fresh.to_owned(),
            });
            self.delivered = self.arguments.len();
        }
    }
}

/// The texts of a list of parts.
fn joined(parts: Option<&Value>, fields: &[&str]) -> String {
    let mut text = String::new();
    for part in parts.and_then(Value::as_array).into_iter().flatten() {
        for field in fields {
            text.push_str(part.get(*field).and_then(Value::as_str).unwrap_or_default());
        }
    }
    text
}
