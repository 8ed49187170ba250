//! The content blocks of one answer in the making.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::event::StreamEvent;
use crate::message::{Content, Reasoning, ToolUse};
use crate::protocol::tool_arguments::tool_use;

/// Content blocks in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    blocks: Vec<Block>,
    /// The first call that could not be read; it is told once it is known why the answer ended.
    failure: Option<Error>,
}

#[derive(Debug)]
struct Block {
    /// Position as the service says it, which may repeat.
    said: Option<u32>,
    /// Position in events, which does not.
    index: u32,
    kind: Kind,
    open: bool,
}

#[derive(Debug)]
enum Kind {
    Text(String),
    Thinking {
        text: String,
        signature: String,
    },
    Redacted(String),
    Call(Call),
    /// What the service does on its own, and what is not known.
    Other,
}

#[derive(Debug, Default)]
struct Call {
    id: String,
    name: String,
    arguments: String,
    /// Arguments that came whole with the beginning; streamed ones win.
    whole: String,
    started: bool,
    finished: Option<ToolUse>,
}

impl Blocks {
    /// Takes the beginning of a block, which may already be all of it.
    pub(super) fn start(&mut self, said: Option<u32>, value: &Value, out: &mut Vec<StreamEvent>) {
        let field = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
        match field("type") {
            "text" => {
                self.open(said, Kind::Text(String::new()), out);
                self.push_text(said, field("text"), out);
            }
            "thinking" => {
                self.open(said, Kind::thinking(), out);
                self.push_thinking(said, field("thinking"), out);
                self.sign(said, field("signature"), out);
            }
            "redacted_thinking" => {
                self.open(said, Kind::Redacted(field("data").to_owned()), out);
            }
            "tool_use" => self.call(said, field("id"), field("name"), value.get("input"), out),
            _ => {
                self.open(said, Kind::Other, out);
            }
        }
    }

    fn call(
        &mut self,
        said: Option<u32>,
        id: &str,
        name: &str,
        input: Option<&Value>,
        out: &mut Vec<StreamEvent>,
    ) {
        let repeats = |block: &Block| {
            block.open && matches!(&block.kind, Kind::Call(call) if !id.is_empty() && call.id == id)
        };
        // Some services announce a call anew with every piece of it.
        if !self.blocks.iter().any(repeats) {
            let call = Call {
                id: id.to_owned(),
                name: name.to_owned(),
                started: !id.is_empty() && !name.is_empty(),
                ..Call::default()
            };
            let started = call.started;
            let index = self.open(said, Kind::Call(call), out);
            if started {
                out.push(StreamEvent::ToolCallStart {
                    index,
                    id: id.to_owned(),
                    name: name.to_owned(),
                });
            }
        }
        let whole = match input {
            Some(Value::Object(input)) if !input.is_empty() => {
                Value::Object(input.clone()).to_string()
            }
            Some(Value::String(text)) => text.clone(),
            _ => return,
        };
        if let Some(call) = self.blocks.iter_mut().rev().find_map(Block::open_call) {
            call.whole = whole;
        }
    }

    /// Opens a block and returns its position. One that is still open at the same place ends.
    fn open(&mut self, said: Option<u32>, kind: Kind, out: &mut Vec<StreamEvent>) -> u32 {
        if said.is_some() {
            self.stop(said, out);
        }
        let free = |index: &u32| !self.blocks.iter().any(|block| block.index == *index);
        let next = self
            .blocks
            .iter()
            .map(|block| block.index.saturating_add(1));
        let index = said.filter(free).or(next.max()).unwrap_or(0);
        self.blocks.push(Block {
            said,
            index,
            kind,
            open: true,
        });
        index
    }

    pub(super) fn push_text(&mut self, said: Option<u32>, delta: &str, out: &mut Vec<StreamEvent>) {
        if delta.is_empty() || self.is_other(said) {
            return;
        }
        let is_text = |kind: &Kind| matches!(kind, Kind::Text(_));
        let block = self.at(said, is_text, || Kind::Text(String::new()), out);
        if let Kind::Text(text) = &mut block.kind {
            text.push_str(delta);
        }
        out.push(StreamEvent::TextDelta {
            text: delta.to_owned(),
        });
    }

    pub(super) fn push_thinking(
        &mut self,
        said: Option<u32>,
        delta: &str,
        out: &mut Vec<StreamEvent>,
    ) {
        if delta.is_empty() || self.is_other(said) {
            return;
        }
        let block = self.at(said, Kind::is_thinking, Kind::thinking, out);
        if let Kind::Thinking { text, .. } = &mut block.kind {
            text.push_str(delta);
        }
        out.push(StreamEvent::ReasoningDelta {
            text: delta.to_owned(),
        });
    }

    /// Takes the signature of a thinking block, which comes in one piece.
    pub(super) fn sign(&mut self, said: Option<u32>, given: &str, out: &mut Vec<StreamEvent>) {
        if given.is_empty() || self.is_other(said) {
            return;
        }
        let block = self.at(said, Kind::is_thinking, Kind::thinking, out);
        if let Kind::Thinking { signature, .. } = &mut block.kind {
            given.clone_into(signature);
        }
    }

    pub(super) fn push_arguments(
        &mut self,
        said: Option<u32>,
        delta: &str,
        out: &mut Vec<StreamEvent>,
    ) {
        if delta.is_empty() || self.is_other(said) {
            return;
        }
        // Without a beginning a call has no name, and the answer cannot be used; blanks do no harm.
        let is_call = |kind: &Kind| matches!(kind, Kind::Call(_));
        if delta.trim().is_empty() && self.find(said, is_call).is_none() {
            return;
        }
        let block = self.at(said, is_call, || Kind::Call(Call::default()), out);
        let index = block.index;
        if let Kind::Call(call) = &mut block.kind {
            call.push(index, delta, out);
        }
    }

    /// Takes the end of a block.
    pub(super) fn stop(&mut self, said: Option<u32>, out: &mut Vec<StreamEvent>) {
        let ended = self
            .blocks
            .iter_mut()
            .rev()
            .find(|block| block.open && (said.is_none() || block.said == said));
        if let Some(block) = ended {
            let closed = block.close(out);
            self.failure = self.failure.take().or(closed.err());
        }
    }

    pub(super) fn has_calls(&self) -> bool {
        self.blocks
            .iter()
            .any(|block| matches!(block.kind, Kind::Call(_)))
    }

    /// Ends what is still open and takes the content of the answer.
    ///
    /// # Errors
    /// [`ErrorKind::MalformedToolCall`](crate::ErrorKind::MalformedToolCall) for a call that cannot be read.
    pub(super) fn finish(&mut self, out: &mut Vec<StreamEvent>) -> Result<Vec<Content>> {
        for block in &mut self.blocks {
            let closed = block.close(out);
            self.failure = self.failure.take().or(closed.err());
        }
        match self.failure.take() {
            Some(failure) => Err(failure),
            None => {
                let blocks = std::mem::take(&mut self.blocks);
                Ok(blocks.into_iter().filter_map(Block::into_content).collect())
            }
        }
    }

    /// The open block of a kind that a delta for this place belongs to; a new one if there is none.
    // The position was just found or made.
    #[allow(clippy::indexing_slicing)]
    fn at(
        &mut self,
        said: Option<u32>,
        fits: impl Fn(&Kind) -> bool,
        make: impl FnOnce() -> Kind,
        out: &mut Vec<StreamEvent>,
    ) -> &mut Block {
        let at = self.find(said, fits).unwrap_or_else(|| {
            self.open(said, make(), out);
            self.blocks.len() - 1
        });
        &mut self.blocks[at]
    }

    /// The open block of a kind at this place, or else the latest one, because positions drift.
    fn find(&self, said: Option<u32>, fits: impl Fn(&Kind) -> bool) -> Option<usize> {
        let fitting = |block: &Block| block.open && fits(&block.kind);
        let there = |block: &Block| said.is_some() && block.said == said && fitting(block);
        let exact = self.blocks.iter().rposition(there);
        exact.or_else(|| self.blocks.iter().rposition(fitting))
    }

    /// Whether what is open at this place is nothing to read.
    fn is_other(&self, said: Option<u32>) -> bool {
        let there = |block: &&Block| block.open && (said.is_none() || block.said == said);
        let latest = self.blocks.iter().rev().find(there);
        latest.is_some_and(|block| matches!(block.kind, Kind::Other))
    }
}

impl Kind {
    fn thinking() -> Self {
        Kind::Thinking {
            text: String::new(),
            signature: String::new(),
        }
    }

    fn is_thinking(&self) -> bool {
        matches!(self, Kind::Thinking { .. })
    }
}

impl Block {
    fn open_call(&mut self) -> Option<&mut Call> {
        match &mut self.kind {
            Kind::Call(call) if self.open => Some(call),
            _ => None,
        }
    }

    fn close(&mut self, out: &mut Vec<StreamEvent>) -> Result<()> {
        if !std::mem::take(&mut self.open) {
            return Ok(());
        }
        let index = self.index;
        let Kind::Call(call) = &mut self.kind else {
            return Ok(());
        };
        if call.arguments.is_empty() && !call.whole.is_empty() {
            let whole = std::mem::take(&mut call.whole);
            call.push(index, &whole, out);
        }
        let tool_use = tool_use(&call.id, &call.name, &call.arguments)?;
        out.push(StreamEvent::ToolCallStop {
            index,
            tool_use: Arc::new(tool_use.clone()),
        });
        call.finished = Some(tool_use);
        Ok(())
    }

    fn into_content(self) -> Option<Content> {
        match self.kind {
            Kind::Text(text) => (!text.is_empty()).then_some(Content::Text(text)),
            Kind::Thinking { text, signature } => {
                let signature = Some(signature).filter(|signature| !signature.is_empty());
                if text.is_empty() && signature.is_none() {
                    return None;
                }
                Some(Content::Reasoning(Reasoning {
                    text,
                    signature,
                    ..Reasoning::default()
                }))
            }
            Kind::Redacted(data) => Some(Content::Reasoning(Reasoning {
                redacted_content: Some(Bytes::from(data)),
                ..Reasoning::default()
            })),
            Kind::Call(call) => call.finished.map(Content::ToolUse),
            Kind::Other => None,
        }
    }
}

impl Call {
    fn push(&mut self, index: u32, delta: &str, out: &mut Vec<StreamEvent>) {
        self.arguments.push_str(delta);
        if self.started {
            out.push(StreamEvent::ToolCallDelta {
                index,
                arguments: delta.to_owned(),
            });
        }
    }
}
