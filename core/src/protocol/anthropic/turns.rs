//! Messages as the alternating turns of a user and an assistant.

use serde_json::{Value, json};

use super::content;
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
    role: Role,
    blocks: Vec<Value>,
}

impl Turns {
    /// # Errors
    /// [`ErrorKind::UnsupportedInput`](crate::ErrorKind::UnsupportedInput) for an attachment in a form that models do not take.
    pub(super) fn new(messages: &[Message]) -> Result<Self> {
        let mut turns = Self::default();
        for message in messages {
            turns.push(message)?;
        }
        for turn in &mut turns.turns {
            turn.answer_first();
        }
        Ok(turns)
    }

    fn push(&mut self, message: &Message) -> Result<()> {
        let role = match message.role {
            Role::System => {
                let texts = message.content.iter().filter_map(|block| match block {
                    Content::Text(text) => content::text(text),
                    _ => None,
                });
                self.system.extend(texts);
                return Ok(());
            }
            Role::Assistant => Role::Assistant,
            Role::User | Role::Developer | Role::Tool => Role::User,
        };
        let mut blocks = Vec::with_capacity(message.content.len());
        for block in message.content.iter() {
            blocks.extend(content::render(block, role)?);
        }
        if blocks.is_empty() {
            return Ok(());
        }
        match self.turns.last_mut() {
            Some(turn) if turn.role == role => turn.blocks.append(&mut blocks),
            _ => self.turns.push(Turn { role, blocks }),
        }
        Ok(())
    }

    /// The last block of the conversation that a cache marker may stand on.
    pub(super) fn last_cacheable(&mut self) -> Option<&mut Value> {
        self.turns
            .iter_mut()
            .rev()
            .flat_map(|turn| turn.blocks.iter_mut().rev())
            .find(|block| !is(block, &["thinking", "redacted_thinking"]))
    }

    /// Names of the tools that were called, each once, in order.
    pub(super) fn called(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for block in self.turns.iter().flat_map(|turn| &turn.blocks) {
            if let ("tool_use", Some(name)) = (kind(block), block.get("name"))
                && let Some(name) = name.as_str()
                && !names.iter().any(|known| known == name)
            {
                names.push(name.to_owned());
            }
        }
        names
    }

    /// The `messages` of the request.
    pub(super) fn into_value(self) -> Value {
        let turns = self.turns.into_iter();
        turns
            .map(|turn| json!({"role": turn.role.as_str(), "content": turn.blocks}))
            .collect()
    }
}

impl Turn {
    /// Puts the answers to calls in front: the service wants them right behind the calls.
    fn answer_first(&mut self) {
        self.blocks
            .sort_by_key(|block| !is(block, &["tool_result"]) && self.role == Role::User);
    }
}

fn kind(block: &Value) -> &str {
    block
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn is(block: &Value, kinds: &[&str]) -> bool {
    kinds.contains(&kind(block))
}
