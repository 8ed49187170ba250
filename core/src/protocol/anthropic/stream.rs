//! Streamed answers.

use serde_json::{Map, Value, json};

use super::block::Blocks;
use super::event::{Delta, Event};
use super::response::{self, Counts};
use crate::error::Result;
use crate::event::StreamEvent;
use crate::http::Frame;
use crate::message::{Message, Role, Usage};
use crate::model::ModelResponse;
use crate::protocol::failure::{broken_off, explain_cut, in_stream, parse};
use crate::protocol::{Decoder, Progress};

/// Decodes the events of one answer.
///
/// Citations and the blocks of tools that the service runs itself are passed over.
#[derive(Debug)]
pub(crate) struct MessagesDecoder {
    requested_model: String,
    id: Option<String>,
    model: Option<String>,
    started: bool,
    blocks: Blocks,
    counts: Counts,
    stop_reason: Option<String>,
    /// For the answer's metadata.
    facts: Map<String, Value>,
    done: bool,
}

impl MessagesDecoder {
    /// A decoder for the answer of `model`.
    pub(crate) fn new(model: &str) -> Self {
        Self {
            requested_model: model.to_owned(),
            id: None,
            model: None,
            started: false,
            blocks: Blocks::default(),
            counts: Counts::default(),
            stop_reason: None,
            facts: Map::new(),
            done: false,
        }
    }

    fn event(&mut self, kind: &str, event: &Event<'_>, out: &mut Vec<StreamEvent>) -> Result<()> {
        let index = event.index.0;
        match kind {
            "message_start" => {
                if let Some(message) = &event.message {
                    self.identify(message);
                }
                self.start(out);
            }
            "content_block_start" => {
                self.start(out);
                if let Some(block) = &event.content_block {
                    self.blocks.start(index, block, out);
                }
            }
            "content_block_delta" => {
                self.start(out);
                if let Some(delta) = &event.delta {
                    self.delta(index, delta, out);
                }
            }
            "content_block_stop" => self.blocks.stop(index, out),
            "message_delta" => {
                if let Some(usage) = &event.usage {
                    self.counts.read(usage);
                }
                if let Some(delta) = &event.delta {
                    if let Some(reason) = delta.stop_reason.present() {
                        self.stop_reason = Some(reason.to_owned());
                    }
                    self.keep("stop_sequence", delta.stop_sequence.as_ref());
                    self.keep("stop_details", delta.stop_details.as_ref());
                }
            }
            "message_stop" => self.done = true,
            "error" => return Err(in_stream(event.error.as_ref().unwrap_or(&json!({})))),
            _ => {}
        }
        Ok(())
    }

    fn delta(&mut self, index: Option<u32>, delta: &Delta<'_>, out: &mut Vec<StreamEvent>) {
        self.blocks.push_text(index, &delta.text.0, out);
        self.blocks.push_thinking(index, &delta.thinking.0, out);
        self.blocks
            .push_arguments(index, &delta.partial_json.0, out);
        self.blocks.sign(index, &delta.signature.0, out);
    }

    /// Keeps what else is known of the end: the sequence that was met, why a request is refused.
    fn keep(&mut self, name: &str, fact: Option<&Value>) {
        if let Some(fact) = fact.filter(|fact| !fact.is_null()) {
            self.facts.insert(name.to_owned(), fact.clone());
        }
    }

    /// Takes what a message says about itself.
    fn identify(&mut self, message: &Value) {
        let field = |name: &str| {
            let text = message.get(name).and_then(Value::as_str)?;
            Some(text.to_owned()).filter(|text| !text.is_empty())
        };
        self.id = field("id").or_else(|| self.id.take());
        self.model = field("model").or_else(|| self.model.take());
        if let Some(usage) = message.get("usage") {
            self.counts.read(usage);
        }
    }

    /// Takes the whole answer of a service that does not stream.
    fn message(&mut self, message: &Value, out: &mut Vec<StreamEvent>) {
        self.identify(message);
        self.start(out);
        let content = message.get("content").and_then(Value::as_array);
        for (index, block) in content.into_iter().flatten().enumerate() {
            let index = u32::try_from(index).ok();
            self.blocks.start(index, block, out);
            self.blocks.stop(index, out);
        }
        let reason = message.get("stop_reason").and_then(Value::as_str);
        self.stop_reason = reason.map(str::to_owned);
        for name in ["stop_sequence", "stop_details"] {
            self.keep(name, message.get(name));
        }
        self.done = true;
    }

    fn start(&mut self, out: &mut Vec<StreamEvent>) {
        if !self.started {
            self.started = true;
            out.push(StreamEvent::MessageStart {
                id: self.id.clone(),
                model: self.answering_model().to_owned(),
            });
        }
    }

    fn answering_model(&self) -> &str {
        self.model.as_deref().unwrap_or(&self.requested_model)
    }
}

impl Decoder for MessagesDecoder {
    fn push(&mut self, frame: Frame<'_>, events: &mut Vec<StreamEvent>) -> Result<()> {
        let data = frame.data.trim_ascii();
        if self.done || data.is_empty() || data == b"[DONE]" {
            return Ok(());
        }
        let mut slow = None;
        let event: Event<'_> = parse(data, &mut slow)?;
        let named = std::str::from_utf8(frame.event).unwrap_or_default();
        match event.kind.present().unwrap_or(named) {
            "message" => {
                let mut slow = None;
                let message: Value = parse(data, &mut slow)?;
                self.message(&message, events);
                Ok(())
            }
            // Gateways report errors without saying that they do.
            "" if event.error.as_ref().is_some_and(|error| !error.is_null()) => {
                self.event("error", &event, events)
            }
            kind => self.event(kind, &event, events),
        }
    }

    fn progress(&self) -> Progress {
        if self.done {
            Progress::Done
        } else if self.stop_reason.is_some() {
            Progress::Complete
        } else {
            Progress::Open
        }
    }

    fn usage(&self) -> Usage {
        self.counts.usage()
    }

    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Result<ModelResponse> {
        if self.progress() == Progress::Open {
            return Err(broken_off());
        }
        self.start(events);
        let reason = self.stop_reason.as_deref().unwrap_or_default();
        let stop_reason = response::stop_reason(reason, self.blocks.has_calls());
        let content = self.blocks.finish(events);
        let usage = self.usage();
        if self.counts.is_reported() {
            events.push(StreamEvent::Usage { usage });
        }
        let content = content.map_err(|error| explain_cut(error, &stop_reason))?;
        let mut metadata = Map::new();
        metadata.insert(
            "id".into(),
            self.id.clone().map_or(Value::Null, Value::from),
        );
        metadata.insert("model".into(), self.answering_model().into());
        metadata.append(&mut self.facts);
        Ok(ModelResponse {
            message: Message::new(Role::Assistant, content),
            stop_reason,
            usage,
            metadata,
        })
    }
}
