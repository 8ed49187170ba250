//! Streamed answers.

use serde_json::{Map, Value, json};

use super::event::Event;
use super::items::Items;
use super::response;
use crate::error::{Error, Result};
use crate::event::StreamEvent;
use crate::http::Frame;
use crate::message::{Message, Role, Usage};
use crate::model::{ModelResponse, StopReason};
use crate::protocol::failure::{broken_off, explain_cut, in_stream, parse};
use crate::protocol::{Decoder, Progress};

/// Decodes the events of one answer.
#[derive(Debug)]
pub(crate) struct ResponsesDecoder {
    requested_model: String,
    id: Option<String>,
    model: Option<String>,
    started: bool,
    items: Items,
    refused: bool,
    /// A call that cannot be made. The answer goes on: how it ends explains the call, and what it
    /// cost is only said then.
    malformed: Option<Error>,
    usage: Option<Usage>,
    stop_reason: Option<StopReason>,
}

impl ResponsesDecoder {
    /// A decoder for the answer of `model`.
    pub(crate) fn new(model: &str) -> Self {
        Self {
            requested_model: model.to_owned(),
            id: None,
            model: None,
            started: false,
            items: Items::default(),
            refused: false,
            malformed: None,
            usage: None,
            stop_reason: None,
        }
    }

    fn event(&mut self, kind: &str, event: &Event<'_>, out: &mut Vec<StreamEvent>) -> Result<()> {
        let index = event.output_index.0;
        let item_id = &*event.item_id.0;
        match kind {
            "response.output_text.delta" => {
                self.start(out);
                self.items.at(index, item_id).push_text(&event.delta.0, out);
            }
            "response.refusal.delta" => {
                self.start(out);
                self.refused = true;
                self.items.at(index, item_id).push_text(&event.delta.0, out);
            }
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                self.start(out);
                self.items
                    .at(index, item_id)
                    .push_reasoning(&event.delta.0, out);
            }
            "response.reasoning_summary_part.added" => {
                self.start(out);
                self.items.at(index, item_id).next_paragraph();
            }
            "response.function_call_arguments.delta" => {
                self.start(out);
                self.items
                    .at(index, item_id)
                    .push_arguments(&event.delta.0, out);
            }
            "response.function_call_arguments.done" => {
                self.start(out);
                self.items
                    .at(index, item_id)
                    .set_arguments(&event.arguments.0, out);
            }
            "response.output_item.added" | "response.output_item.done" => {
                self.start(out);
                let Some(value) = &event.item else {
                    return Ok(());
                };
                let id = value.get("id").and_then(Value::as_str).unwrap_or_default();
                self.refused |= is_refusal(value);
                if kind.ends_with("added") {
                    self.items.begin(index, id).announce(value, out);
                } else if let Err(error) = self.items.at(index, id).complete(value, out) {
                    self.malformed.get_or_insert(error);
                }
            }
            "response.created" | "response.in_progress" | "response.queued" => {
                if let Some(response) = &event.response {
                    self.identify(response);
                }
                self.start(out);
            }
            "response.completed" | "response.incomplete" => {
                let response = event.response.as_ref().unwrap_or(&Value::Null);
                self.complete(kind, response, out)?;
            }
            "response.failed" | "response.cancelled" => {
                let response = event.response.as_ref().unwrap_or(&Value::Null);
                self.read_usage(response);
                let error = response.get("error").filter(|error| !error.is_null());
                return Err(in_stream(error.unwrap_or(&json!({
                    "message": format!("the response ended as {}", kind.trim_start_matches("response.")),
                }))));
            }
            "error" => {
                return Err(match &event.error {
                    Some(error) if !error.is_null() => in_stream(error),
                    _ => in_stream(&json!({"code": event.code, "message": event.message})),
                });
            }
            _ => {}
        }
        Ok(())
    }

    fn identify(&mut self, response: &Value) {
        let field = |name: &str| {
            let text = response.get(name).and_then(Value::as_str)?;
            Some(text.to_owned()).filter(|text| !text.is_empty())
        };
        self.id = field("id").or_else(|| self.id.take());
        self.model = field("model").or_else(|| self.model.take());
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

    fn read_usage(&mut self, response: &Value) {
        if let Some(usage) = response.get("usage").filter(|usage| usage.is_object()) {
            self.usage = Some(response::usage(usage));
        }
    }

    fn complete(&mut self, kind: &str, response: &Value, out: &mut Vec<StreamEvent>) -> Result<()> {
        self.identify(response);
        self.start(out);
        self.read_usage(response);
        let output = response.get("output").and_then(Value::as_array);
        let mut has_calls = self.items.has_calls();
        for item in output.into_iter().flatten() {
            has_calls |= item.get("type").and_then(Value::as_str) == Some("function_call");
            self.refused |= is_refusal(item);
        }
        let stop_reason = if kind == "response.incomplete" && response.get("status").is_none() {
            StopReason::MaxTokens
        } else {
            response::stop_reason(response, self.refused, has_calls)
        };
        // A service may stream less than it answers; what it left out is only here.
        let mut closed = self.malformed.take().map_or(Ok(()), Err);
        for (position, value) in output.into_iter().flatten().enumerate() {
            if closed.is_ok() {
                let id = value.get("id").and_then(Value::as_str).unwrap_or_default();
                let index = u32::try_from(position).ok();
                closed = self.items.at(index, id).complete(value, out);
            }
        }
        closed
            .and_then(|()| self.items.close(out))
            .map_err(|error| explain_cut(error, &stop_reason))?;
        self.stop_reason = Some(stop_reason);
        Ok(())
    }
}

/// Whether an output item is or contains a refusal.
fn is_refusal(item: &Value) -> bool {
    let parts = item.get("content").and_then(Value::as_array);
    parts
        .into_iter()
        .flatten()
        .any(|part| part.get("type").and_then(Value::as_str) == Some("refusal"))
}

impl Decoder for ResponsesDecoder {
    fn push(&mut self, frame: Frame<'_>, events: &mut Vec<StreamEvent>) -> Result<()> {
        let data = frame.data.trim_ascii();
        if data.is_empty() || data == b"[DONE]" || self.stop_reason.is_some() {
            return Ok(());
        }
        let mut slow = None;
        let event: Event<'_> = parse(data, &mut slow)?;
        let named = std::str::from_utf8(frame.event).unwrap_or_default();
        match event.kind.present() {
            Some(kind) => self.event(kind, &event, events),
            None if !named.is_empty() => self.event(named, &event, events),
            None => self.document(data, &event, events),
        }
    }

    fn progress(&self) -> Progress {
        if self.stop_reason.is_some() {
            Progress::Done
        } else {
            Progress::Open
        }
    }

    fn usage(&self) -> Usage {
        self.usage.unwrap_or_default()
    }

    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Result<ModelResponse> {
        let Some(stop_reason) = self.stop_reason.clone() else {
            return Err(self.malformed.take().unwrap_or_else(broken_off));
        };
        let usage = self.usage();
        if self.usage.is_some() {
            events.push(StreamEvent::Usage { usage });
        }
        let mut metadata = Map::new();
        metadata.insert(
            "id".into(),
            self.id.clone().map_or(Value::Null, Value::from),
        );
        metadata.insert("model".into(), self.answering_model().into());
        Ok(ModelResponse {
            message: Message::new(Role::Assistant, self.items.take_content()),
            stop_reason,
            usage,
            metadata,
        })
    }
}

impl ResponsesDecoder {
    /// Takes a document without a type: an error object, or a whole response from a service
    /// that does not stream.
    fn document(
        &mut self,
        data: &[u8],
        event: &Event<'_>,
        out: &mut Vec<StreamEvent>,
    ) -> Result<()> {
        if let Some(error) = event.error.as_ref().filter(|error| !error.is_null()) {
            return Err(in_stream(error));
        }
        let mut slow = None;
        let value: Value = parse(data, &mut slow)?;
        if value.get("object").and_then(Value::as_str) == Some("response") {
            self.complete("response.completed", &value, out)?;
        }
        Ok(())
    }
}
