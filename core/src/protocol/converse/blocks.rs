//! Content blocks of an answer in the making.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::event::StreamEvent;
use crate::message::{Content, Reasoning, ToolUse};
use crate::protocol::tool_arguments::tool_use;

/// The blocks so far, in order of appearance.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    blocks: Vec<Block>,
    /// What was wrong with the first call that cannot be used.
    fault: Option<Error>,
}

#[derive(Debug)]
struct Block {
    /// The service's position.
    position: u32,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Text(String),
    Thought {
        text: String,
        signature: String,
    },
    Redacted(Vec<u8>),
    Call(Call),
    /// What the service does by itself, such as a search.
    Foreign,
}

#[derive(Debug)]
struct Call {
    index: u32,
    id: String,
    name: String,
    arguments: String,
    closed: bool,
    finished: Option<Arc<ToolUse>>,
}

impl Blocks {
    /// Whether there are calls.
    pub(super) fn has_calls(&self) -> bool {
        self.blocks
            .iter()
            .any(|block| matches!(block.kind, Kind::Call(_)))
    }

    /// Takes the start of a block, which only says something for calls.
    pub(super) fn start(
        &mut self,
        position: Option<u32>,
        start: &Value,
        out: &mut Vec<StreamEvent>,
    ) {
        let position = position.unwrap_or_else(|| self.next_position());
        let Some(call) = start.get("toolUse") else {
            if start.get("toolResult").is_some() || start.get("image").is_some() {
                self.push(position, Kind::Foreign);
            }
            return;
        };
        let text = |name: &str| call.get(name).and_then(Value::as_str).unwrap_or_default();
        if text("type") == "server_tool_use" {
            self.push(position, Kind::Foreign);
            return;
        }
        let (id, name) = (text("toolUseId"), text("name"));
        let repeated = self.blocks.iter().any(|block| {
            block.position == position
                && matches!(&block.kind, Kind::Call(call) if call.id == id && !call.closed)
        });
        if repeated {
            return;
        }
        // A second call at the same place means that the first one is complete.
        self.stop(Some(position), out);
        self.open(position, id, name, out);
    }

    fn open(&mut self, position: u32, id: &str, name: &str, out: &mut Vec<StreamEvent>) {
        let index = self.free_index(position);
        // Without a name or an id there is no call to announce; it is complained of when it ends.
        if !id.is_empty() && !name.is_empty() {
            out.push(StreamEvent::ToolCallStart {
                index,
                id: id.to_owned(),
                name: name.to_owned(),
            });
        }
        self.push(
            position,
            Kind::Call(Call {
                index,
                id: id.to_owned(),
                name: name.to_owned(),
                arguments: String::new(),
                closed: false,
                finished: None,
            }),
        );
    }

    pub(super) fn push_text(
        &mut self,
        position: Option<u32>,
        piece: &str,
        out: &mut Vec<StreamEvent>,
    ) {
        if piece.is_empty() || self.is_foreign(position) {
            return;
        }
        let kind = self.at(
            position,
            |kind| matches!(kind, Kind::Text(_)),
            || Kind::Text(String::new()),
        );
        if let Kind::Text(text) = kind {
            text.push_str(piece);
            out.push(StreamEvent::TextDelta {
                text: piece.to_owned(),
            });
        }
    }

    pub(super) fn push_reasoning(
        &mut self,
        position: Option<u32>,
        piece: &str,
        proof: &str,
        out: &mut Vec<StreamEvent>,
    ) {
        if piece.is_empty() && proof.is_empty() {
            return;
        }
        let kind = self.at(
            position,
            |kind| matches!(kind, Kind::Thought { .. }),
            || Kind::Thought {
                text: String::new(),
                signature: String::new(),
            },
        );
        if let Kind::Thought { text, signature } = kind {
            text.push_str(piece);
            signature.push_str(proof);
        }
        if !piece.is_empty() {
            out.push(StreamEvent::ReasoningDelta {
                text: piece.to_owned(),
            });
        }
    }

    /// # Errors
    /// [`ErrorKind::Protocol`] for bytes that are not base64.
    pub(super) fn push_redacted(&mut self, position: Option<u32>, encoded: &str) -> Result<()> {
        if encoded.is_empty() {
            return Ok(());
        }
        let piece = STANDARD.decode(encoded).map_err(|_| {
            Error::new(
                ErrorKind::Protocol,
                "the provider sent redacted reasoning that is not base64",
            )
        })?;
        let kind = self.at(
            position,
            |kind| matches!(kind, Kind::Redacted(_)),
            || Kind::Redacted(Vec::new()),
        );
        if let Kind::Redacted(bytes) = kind {
            bytes.extend(piece);
        }
        Ok(())
    }

    /// Takes a fragment of arguments. One that belongs to no open call is the last open call's.
    pub(super) fn push_arguments(
        &mut self,
        position: Option<u32>,
        piece: &str,
        out: &mut Vec<StreamEvent>,
    ) {
        if piece.is_empty() || self.is_foreign(position) {
            return;
        }
        let open = |block: &Block| matches!(&block.kind, Kind::Call(call) if !call.closed);
        let own = self
            .blocks
            .iter()
            .rposition(|block| Some(block.position) == position && open(block));
        let found = own.or_else(|| self.blocks.iter().rposition(open));
        if let Some(block) = found.and_then(|found| self.blocks.get_mut(found))
            && let Kind::Call(call) = &mut block.kind
        {
            call.arguments.push_str(piece);
            if call.is_announced() {
                out.push(StreamEvent::ToolCallDelta {
                    index: call.index,
                    arguments: piece.to_owned(),
                });
            }
        }
    }

    /// Ends the block at `position`, or every block when there is none.
    pub(super) fn stop(&mut self, position: Option<u32>, out: &mut Vec<StreamEvent>) {
        for block in &mut self.blocks {
            if position.is_some_and(|position| position != block.position) {
                continue;
            }
            if let Kind::Call(call) = &mut block.kind
                && !call.closed
            {
                call.closed = true;
                match tool_use(&call.id, &call.name, &call.arguments) {
                    Ok(finished) => {
                        let finished = Arc::new(finished);
                        call.finished = Some(Arc::clone(&finished));
                        out.push(StreamEvent::ToolCallStop {
                            index: call.index,
                            tool_use: finished,
                        });
                    }
                    // Raised at the end, when it is known whether the answer was cut.
                    Err(fault) => {
                        self.fault.get_or_insert(fault);
                    }
                }
            }
        }
    }

    /// The content of the finished answer.
    ///
    /// # Errors
    /// [`ErrorKind::MalformedToolCall`] for a call that cannot be used.
    pub(super) fn take_content(&mut self) -> Result<Vec<Content>> {
        match self.fault.take() {
            Some(fault) => Err(fault),
            None => Ok(self.blocks.drain(..).filter_map(content).collect()),
        }
    }

    fn push(&mut self, position: u32, kind: Kind) {
        self.blocks.push(Block { position, kind });
    }

    /// The block at `position` if it is of the right kind, else a new one.
    fn at(
        &mut self,
        position: Option<u32>,
        is_right: impl Fn(&Kind) -> bool,
        new: impl FnOnce() -> Kind,
    ) -> &mut Kind {
        let last = self.blocks.len().checked_sub(1);
        let found = match position {
            Some(position) => self
                .blocks
                .iter()
                .rposition(|block| block.position == position && is_right(&block.kind)),
            None => last.filter(|last| {
                let block = self.blocks.get(*last);
                block.is_some_and(|block| is_right(&block.kind))
            }),
        };
        let at = found.unwrap_or_else(|| {
            let position = position.unwrap_or_else(|| self.next_position());
            self.push(position, new());
            self.blocks.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "found or pushed above")]
        &mut self.blocks[at].kind
    }

    fn is_foreign(&self, position: Option<u32>) -> bool {
        let mut blocks = self.blocks.iter().rev();
        let block = match position {
            Some(position) => blocks.find(|block| block.position == position),
            None => blocks.next(),
        };
        block.is_some_and(|block| matches!(block.kind, Kind::Foreign))
    }

    fn next_position(&self) -> u32 {
        let last = self.blocks.iter().map(|block| block.position).max();
        last.map_or(0, |last| last.saturating_add(1))
    }

    /// `position` unless another call has it.
    fn free_index(&self, position: u32) -> u32 {
        let indexes = self.blocks.iter().filter_map(|block| match &block.kind {
            Kind::Call(call) => Some(call.index),
            _ => None,
        });
        let taken: Vec<u32> = indexes.collect();
        if !taken.contains(&position) {
            return position;
        }
        taken
            .iter()
            .max()
            .map_or(0, |last| last.saturating_add(1))
            .max(self.next_position())
    }
}

impl Call {
    fn is_announced(&self) -> bool {
        !self.id.is_empty() && !self.name.is_empty()
    }
}

fn content(block: Block) -> Option<Content> {
    match block.kind {
        Kind::Text(text) => Some(Content::Text(text)),
        Kind::Thought { text, signature } => Some(Content::Reasoning(Reasoning {
            text,
            signature: Some(signature).filter(|signature| !signature.is_empty()),
            ..Reasoning::default()
        })),
        Kind::Redacted(bytes) => Some(Content::Reasoning(Reasoning {
            redacted_content: Some(bytes.into()),
            ..Reasoning::default()
        })),
        Kind::Call(call) => call
            .finished
            .map(|finished| Content::ToolUse(Arc::unwrap_or_clone(finished))),
        Kind::Foreign => None,
    }
}
