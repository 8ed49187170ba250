//! Streamed answers.

use serde_json::{Map, Value, json};

use super::calls::Calls;
use super::chunk::{Choice, Chunk, Delta};
use super::reasoning::ReasoningParts;
use super::response;
use crate::error::Result;
use crate::event::StreamEvent;
use crate::http::Frame;
use crate::message::{Content, Message, Role, Usage};
use crate::model::ModelResponse;
use crate::protocol::failure::{broken_off, explain_cut, in_stream, parse};
use crate::protocol::{Decoder, Progress};

/// Decodes the chunks of one answer.
#[derive(Debug)]
pub(crate) struct ChatDecoder {
    requested_model: String,
    id: Option<String>,
    model: Option<String>,
    started: bool,
    text: String,
    refused: bool,
    reasoning: ReasoningParts,
    calls: Calls,
    finish_reason: Option<String>,
    usage: Option<Usage>,
    /// The index of the choice that is followed, once one was seen.
    choice: Option<Option<u32>>,
    done: bool,
}

impl ChatDecoder {
    /// A decoder for the answer of `model`.
    pub(crate) fn new(model: &str) -> Self {
        Self {
            requested_model: model.to_owned(),
            id: None,
            model: None,
            started: false,
            text: String::new(),
            refused: false,
            reasoning: ReasoningParts::default(),
            calls: Calls::default(),
            finish_reason: None,
            usage: None,
            choice: None,
            done: false,
        }
    }

    fn chunk(&mut self, chunk: &Chunk<'_>, events: &mut Vec<StreamEvent>) -> Result<()> {
        if let Some(error) = chunk.error.as_ref().filter(|error| !error.is_null()) {
            return Err(in_stream(error));
        }
        if self.id.is_none() {
            self.id = chunk.id.present().map(str::to_owned);
        }
        if self.model.is_none() {
            self.model = chunk.model.present().map(str::to_owned);
        }
        if let Some(usage) = chunk.usage.as_ref().filter(|usage| usage.is_object()) {
            self.usage = Some(response::usage(usage));
        }
        let choice = self.ours(&chunk.choices.0);
        // A first chunk may carry nothing but a content filter's findings: no id yet, no model.
        if !self.started && (self.id.is_some() || choice.is_some()) {
            self.start(events);
        }
        match choice {
            Some(choice) => self.choice(choice, events),
            None => Ok(()),
        }
    }

    /// The choice that this answer follows: where a service gives several, the first one seen.
    fn ours<'b, 'a>(&mut self, choices: &'b [Choice<'a>]) -> Option<&'b Choice<'a>> {
        let followed = match self.choice {
            Some(followed) => followed,
            None => {
                let first = choices.first()?.index.0;
                self.choice = Some(first);
                first
            }
        };
        choices
            .iter()
            .find(|choice| match (followed, choice.index.0) {
                (Some(followed), Some(index)) => followed == index,
                _ => true,
            })
    }

    fn start(&mut self, events: &mut Vec<StreamEvent>) {
        self.started = true;
        events.push(StreamEvent::MessageStart {
            id: self.id.clone(),
            model: self.answering_model().to_owned(),
        });
    }

    fn answering_model(&self) -> &str {
        self.model.as_deref().unwrap_or(&self.requested_model)
    }

    fn choice(&mut self, choice: &Choice<'_>, events: &mut Vec<StreamEvent>) -> Result<()> {
        if let Some(error) = choice.error.as_ref().filter(|error| !error.is_null()) {
            return Err(in_stream(error));
        }
        if let Some(delta) = choice.delta.as_ref().or(choice.message.as_ref()) {
            self.delta(delta, events);
        }
        if let Some(usage) = choice.usage.as_ref().filter(|usage| usage.is_object()) {
            self.usage = Some(response::usage(usage));
        }
        if let Some(reason) = choice.finish_reason.present() {
            if reason == "error" {
                return Err(in_stream(&json!({
                    "type": "provider_unavailable",
                    "message": "the model stopped with an error",
                })));
            }
            self.finish_reason = Some(reason.to_owned());
        }
        Ok(())
    }

    fn delta(&mut self, delta: &Delta<'_>, events: &mut Vec<StreamEvent>) {
        // Some services send the same reasoning under both names.
        let reasoning = delta
            .reasoning_content
            .present()
            .or_else(|| delta.reasoning.present());
        if let Some(text) = reasoning {
            self.reasoning.push_text(text);
            events.push(StreamEvent::ReasoningDelta {
                text: text.to_owned(),
            });
        }
        for detail in &delta.reasoning_details.0 {
            self.reasoning.push_detail(detail.clone());
        }
        if let Some(text) = delta.content.present() {
            self.text_delta(text, events);
        }
        if let Some(text) = delta.refusal.present() {
            self.refused = true;
            self.text_delta(text, events);
        }
        for call in &delta.tool_calls.0 {
            self.calls.push(call, events);
        }
    }

    fn text_delta(&mut self, text: &str, events: &mut Vec<StreamEvent>) {
        self.text.push_str(text);
        events.push(StreamEvent::TextDelta {
            text: text.to_owned(),
        });
    }
}

impl Decoder for ChatDecoder {
    fn push(&mut self, frame: Frame<'_>, events: &mut Vec<StreamEvent>) -> Result<()> {
        let data = frame.data.trim_ascii();
        if data == b"[DONE]" {
            self.done = true;
        }
        if self.done || data.is_empty() {
            return Ok(());
        }
        let mut slow = None;
        let chunk: Chunk<'_> = parse(data, &mut slow)?;
        self.chunk(&chunk, events)
    }

    fn progress(&self) -> Progress {
        if self.done {
            Progress::Done
        } else if self.finish_reason.is_some() {
            Progress::Complete
        } else {
            Progress::Open
        }
    }

    fn usage(&self) -> Usage {
        self.usage.unwrap_or_default()
    }

    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Result<ModelResponse> {
        if self.progress() == Progress::Open {
            return Err(broken_off());
        }
        if !self.started {
            self.start(events);
        }
        let usage = self.usage();
        if self.usage.is_some() {
            events.push(StreamEvent::Usage { usage });
        }
        let has_calls = !self.calls.is_empty();
        let reason = self.finish_reason.as_deref().unwrap_or_default();
        let stop_reason = response::stop_reason(reason, self.refused, has_calls);
        let uses = self
            .calls
            .finish(events)
            .map_err(|error| explain_cut(error, &stop_reason))?;
        let mut content: Vec<Content> = self.reasoning.take().into_iter().collect();
        if !self.text.is_empty() {
            content.push(Content::Text(std::mem::take(&mut self.text)));
        }
        content.extend(uses.into_iter().map(Content::ToolUse));
        let mut metadata = Map::new();
        metadata.insert(
            "id".into(),
            self.id.clone().map_or(Value::Null, Value::from),
        );
        metadata.insert("model".into(), self.answering_model().into());
        Ok(ModelResponse {
            message: Message::new(Role::Assistant, content),
            stop_reason,
            usage,
            metadata,
        })
    }
}
