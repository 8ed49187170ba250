//! Streamed answers.

use serde_json::{Map, Value};

use super::blocks::Blocks;
use super::event::Event;
use super::{exception, response};
use crate::error::{Error, Result};
use crate::event::StreamEvent;
use crate::http::Frame;
use crate::message::{Message, Role, Usage};
use crate::model::ModelResponse;
use crate::protocol::failure::{broken_off, explain_cut, parse};
use crate::protocol::{Decoder, Progress};

/// Decodes the events of one answer, or the one document of a service that does not stream.
#[derive(Debug)]
pub(crate) struct ConverseDecoder {
    model: String,
    started: bool,
    blocks: Blocks,
    stop_reason: Option<String>,
    additional: Option<Value>,
    trace: Option<Value>,
    usage: Option<Usage>,
}

impl ConverseDecoder {
    /// A decoder for the answer of `model`.
    pub(crate) fn new(model: &str) -> Self {
        Self {
            model: model.to_owned(),
            started: false,
            blocks: Blocks::default(),
            stop_reason: None,
            additional: None,
            trace: None,
            usage: None,
        }
    }

    fn event(&mut self, kind: &str, event: &Event<'_>, out: &mut Vec<StreamEvent>) -> Result<()> {
        let position = event.index.0;
        match kind {
            "messageStart" => self.start(out),
            "contentBlockStart" => {
                self.start(out);
                if let Some(start) = &event.start {
                    self.blocks.start(position, start, out);
                }
            }
            "contentBlockDelta" => {
                self.start(out);
                let Some(delta) = &event.delta else {
                    return Ok(());
                };
                self.blocks.push_text(position, &delta.text.0, out);
                if let Some(call) = &delta.tool_use {
                    self.blocks.push_arguments(position, &call.input.0, out);
                }
                if let Some(thought) = &delta.reasoning {
                    let (text, signature) = (&thought.text.0, &thought.signature.0);
                    self.blocks.push_reasoning(position, text, signature, out);
                    self.blocks.push_redacted(position, &thought.redacted.0)?;
                }
            }
            "contentBlockStop" => {
                self.start(out);
                self.blocks.stop(position, out);
            }
            "messageStop" => self.stop(&event.stop_reason.0, event.additional.as_ref(), out),
            "metadata" => {
                self.read_usage(event.usage.as_ref());
                self.read_trace(event.trace.as_ref());
            }
            // A kind of event that came later than this code.
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, out: &mut Vec<StreamEvent>) {
        if !self.started {
            self.started = true;
            out.push(StreamEvent::MessageStart {
                id: None,
                model: self.model.clone(),
            });
        }
    }

    fn stop(&mut self, reason: &str, additional: Option<&Value>, out: &mut Vec<StreamEvent>) {
        self.start(out);
        self.blocks.stop(None, out);
        self.stop_reason = Some(reason.to_owned());
        self.additional = additional.filter(|fields| !fields.is_null()).cloned();
    }

    fn read_trace(&mut self, trace: Option<&Value>) {
        if let Some(trace) = trace.filter(|trace| !trace.is_null()) {
            self.trace = Some(trace.clone());
        }
    }

    fn read_usage(&mut self, usage: Option<&Value>) {
        if let Some(usage) = usage.filter(|usage| usage.is_object()) {
            self.usage = Some(response::usage(usage));
        }
    }

    /// Takes the answer of Converse, which is complete in itself, or a failure that came as one.
    fn document(&mut self, value: &Value, out: &mut Vec<StreamEvent>) -> Result<()> {
        let Some(content) = value.pointer("/output/message/content") else {
            let name = value.get("__type").and_then(Value::as_str);
            if name.is_some() || value.get("message").is_some_and(Value::is_string) {
                return Err(exception::in_stream(name.unwrap_or_default(), value));
            }
            return Ok(());
        };
        self.start(out);
        for (position, block) in content.as_array().into_iter().flatten().enumerate() {
            let position = u32::try_from(position).ok();
            let text = |pointer: &str| {
                let text = block.pointer(pointer).and_then(Value::as_str);
                text.unwrap_or_default()
            };
            self.blocks.start(position, block, out);
            self.blocks.push_text(position, text("/text"), out);
            if let Some(input) = block.pointer("/toolUse/input") {
                let arguments = input.to_string();
                self.blocks.push_arguments(position, &arguments, out);
            }
            let thought = "/reasoningContent/reasoningText";
            let (said, signature) = (format!("{thought}/text"), format!("{thought}/signature"));
            self.blocks
                .push_reasoning(position, text(&said), text(&signature), out);
            self.blocks
                .push_redacted(position, text("/reasoningContent/redactedContent"))?;
            self.blocks.stop(position, out);
        }
        self.read_usage(value.get("usage"));
        self.read_trace(value.get("trace"));
        let reason = value.get("stopReason").and_then(Value::as_str);
        let additional = value.get("additionalModelResponseFields");
        self.stop(reason.unwrap_or_default(), additional, out);
        Ok(())
    }

    fn has_stopped(&self) -> bool {
        self.stop_reason.is_some()
    }
}

impl Decoder for ConverseDecoder {
    fn push(&mut self, frame: Frame<'_>, events: &mut Vec<StreamEvent>) -> Result<()> {
        let kind = std::str::from_utf8(frame.event).unwrap_or_default();
        // What still breaks takes nothing away from an answer that is whole.
        if self.has_stopped() && kind != "metadata" {
            return Ok(());
        }
        let data = frame.data.trim_ascii();
        let mut slow = None;
        if kind.ends_with("Exception") {
            let payload = parse(data, &mut slow).unwrap_or_default();
            return Err(exception::in_stream(kind, &payload));
        }
        if data.is_empty() {
            return Ok(());
        }
        if kind.is_empty() {
            let value: Value = parse(data, &mut slow)?;
            return self.document(&value, events);
        }
        let event: Event<'_> = parse(data, &mut slow)?;
        self.event(kind, &event, events)
    }

    fn progress(&self) -> Progress {
        match (self.has_stopped(), self.usage) {
            (true, Some(_)) => Progress::Done,
            (true, None) => Progress::Complete,
            _ => Progress::Open,
        }
    }

    fn usage(&self) -> Usage {
        self.usage.unwrap_or_default()
    }

    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Result<ModelResponse> {
        let Some(word) = self.stop_reason.clone() else {
            return Err(broken_off());
        };
        let usage = self.usage();
        if self.usage.is_some() {
            events.push(StreamEvent::Usage { usage });
        }
        let has_calls = self.blocks.has_calls();
        let content = self.blocks.take_content();
        let stop_reason = response::stop_reason(&word, has_calls)?;
        let content = content.map_err(|error: Error| explain_cut(error, &stop_reason))?;
        let mut metadata = Map::new();
        metadata.insert("model".into(), self.model.clone().into());
        if let Some(fields) = self.additional.take() {
            metadata.insert("additional_model_response_fields".into(), fields);
        }
        if let Some(trace) = self.trace.take() {
            metadata.insert("trace".into(), trace);
        }
        Ok(ModelResponse {
            message: Message::new(Role::Assistant, content),
            stop_reason,
            usage,
            metadata,
        })
    }
}
