//! Messages as the alternating turns of a user and an assistant.

use serde_json::{Value, json};

use super::attachments::Names;
use super::content::{self, Place};
use super::family::Family;
use crate::error::Result;
use crate::message::{Content, Message, Role};

/// The conversation in the form of a request.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Blocks of the instructions.
    pub(super) system: Vec<Value>,
    turns: Vec<Turn>,
}

#[derive(Debug)]
struct Turn {
    place: Place,
    blocks: Vec<Value>,
}

impl Turns {
    /// # Errors
    /// [`ErrorKind::Configuration`](crate::ErrorKind::Configuration) for an attachment in a form that
    /// the service does not take.
    pub(super) fn new(messages: &[Message], family: Family) -> Result<Self> {
        let mut turns = Self::default();
        let mut names = Names::default();
        for message in messages {
            turns.push(message, family, &mut names)?;
        }
        for turn in &mut turns.turns {
            turn.complete();
        }
        Ok(turns)
    }

    fn push(&mut self, message: &Message, family: Family, names: &mut Names) -> Result<()> {
        let place = match message.role {
            Role::System | Role::Developer => {
                self.system
                    .extend(message.content.iter().filter_map(|block| match block {
                        Content::Text(text) => content::text(text),
                        _ => None,
                    }));
                return Ok(());
            }
            Role::Assistant => Place::Assistant,
            Role::User | Role::Tool => Place::User,
        };
        let mut blocks = Vec::with_capacity(message.content.len());
        for block in message.content.iter() {
            blocks.extend(content::render(block, place, family, names)?);
        }
        if blocks.is_empty() {
            return Ok(());
        }
        match self.turns.last_mut() {
            Some(turn) if turn.place == place => turn.blocks.append(&mut blocks),
            _ => self.turns.push(Turn { place, blocks }),
        }
        Ok(())
    }

    /// Appends a block to the last turn, if there is one.
    pub(super) fn append(&mut self, block: Value) {
        if let Some(turn) = self.turns.last_mut() {
            turn.blocks.push(block);
        }
    }

    /// Names of the tools that were called, each once, in order.
    pub(super) fn called(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for block in self.turns.iter().flat_map(|turn| &turn.blocks) {
            if let Some(name) = block.pointer("/toolUse/name").and_then(Value::as_str)
                && !names.contains(&name)
            {
                names.push(name);
            }
        }
        names
    }

    /// Whether calls or their results are part of the conversation.
    pub(super) fn mention_tools(&self) -> bool {
        let mut blocks = self.turns.iter().flat_map(|turn| &turn.blocks);
        blocks.any(|block| has(block, "toolUse") || has(block, "toolResult"))
    }

    /// The `messages` of the request.
    pub(super) fn into_value(self) -> Value {
        let turns = self.turns.into_iter();
        turns
            .map(|turn| {
                let role = match turn.place {
                    Place::Assistant => "assistant",
                    Place::User => "user",
                };
                json!({"role": role, "content": turn.blocks})
            })
            .collect()
    }
}

impl Turn {
    /// Makes the turn one that the service accepts.
    fn complete(&mut self) {
        if self.place == Place::Assistant {
            return;
        }
        // The results of calls belong right behind the calls.
        self.blocks.sort_by_key(|block| !has(block, "toolResult"));
        // A document needs a text next to it.
        let name = self
            .blocks
            .iter()
            .find_map(|block| block.pointer("/document/name"))
            .cloned();
        if let Some(name) = name
            && !self.blocks.iter().any(|block| has(block, "text"))
        {
            self.blocks.push(json!({"text": name}));
        }
    }
}

fn has(block: &Value, kind: &str) -> bool {
    block.get(kind).is_some()
}
