//! Streamed answers.

use serde_json::{Map, Value, json};

use super::answer::Answer;
use super::answer_tool;
use super::response::{self, UNSPECIFIED};
use super::traits::Traits;
use crate::error::Result;
use crate::event::StreamEvent;
use crate::http::Frame;
use crate::message::{Message, Role, Usage};
use crate::model::{ModelRequest, ModelResponse, StopReason};
use crate::protocol::failure::{broken_off, explain_cut, in_stream, parse};
use crate::protocol::{Decoder, Progress};

/// Facts of an answer that the application may have to show, by their names in the metadata.
const FACTS: &[(&str, &str)] = &[
    ("citationMetadata", "citation_metadata"),
    ("groundingMetadata", "grounding_metadata"),
    ("urlContextMetadata", "url_context_metadata"),
    ("continuationToken", "continuation_token"),
];

/// Decodes the chunks of one answer.
#[derive(Debug)]
pub(crate) struct GeminiDecoder {
    requested_model: String,
    id: Option<String>,
    model: Option<String>,
    started: bool,
    answer: Answer,
    counts: Map<String, Value>,
    stop_reason: Option<StopReason>,
    /// The last chunk gave a reason that says nothing.
    unspecified: bool,
    facts: Map<String, Value>,
}

impl GeminiDecoder {
    /// A decoder for the answer of `model`.
    pub(crate) fn new(model: &str) -> Self {
        Self {
            requested_model: model.to_owned(),
            id: None,
            model: None,
            started: false,
            answer: Answer::default(),
            counts: Map::new(),
            stop_reason: None,
            unspecified: false,
            facts: Map::new(),
        }
    }

    /// The decoder for the answer to `request`, which may have offered a tool for it.
    pub(crate) fn answering(mut self, request: &ModelRequest, traits: Traits) -> Self {
        self.answer = Answer::new(answer_tool::name(request, traits));
        self
    }

    fn chunk(&mut self, chunk: &Value, events: &mut Vec<StreamEvent>) -> Result<()> {
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            return Err(in_stream(error));
        }
        let text = |name: &str| {
            let text = chunk.get(name).and_then(Value::as_str);
            text.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        self.id = self.id.take().or_else(|| text("responseId"));
        self.model = self.model.take().or_else(|| text("modelVersion"));
        if let Some(Value::Object(counts)) = chunk.get("usageMetadata") {
            let present = counts.iter().filter(|(_, count)| !count.is_null());
            self.counts
                .extend(present.map(|(name, count)| (name.clone(), count.clone())));
        }
        let candidate = candidate(chunk);
        let blocked = chunk.get("promptFeedback").and_then(block_reason);
        if !self.started && (self.id.is_some() || candidate.is_some() || blocked.is_some()) {
            self.start(events);
        }
        match (candidate, blocked) {
            (Some(candidate), _) => self.candidate(candidate, events),
            (None, Some(blocked)) => {
                self.blocked(blocked, chunk);
                Ok(())
            }
            (None, None) => Ok(()),
        }
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

    fn candidate(&mut self, candidate: &Value, events: &mut Vec<StreamEvent>) -> Result<()> {
        let parts = candidate.pointer("/content/parts");
        for part in parts.and_then(Value::as_array).into_iter().flatten() {
            if let Value::Object(part) = part {
                self.answer.push(part, self.id.as_deref(), events)?;
            }
        }
        for (field, name) in FACTS {
            if let Some(fact) = candidate.get(field).filter(|fact| !fact.is_null()) {
                self.facts.insert((*name).to_owned(), fact.clone());
            }
        }
        let text = |name: &str| {
            let text = candidate.get(name).and_then(Value::as_str);
            text.filter(|text| !text.is_empty())
        };
        let reason = text("finishReason");
        self.unspecified = reason == Some(UNSPECIFIED);
        if let Some(reason) = reason.filter(|reason| *reason != UNSPECIFIED) {
            let explanation = text("finishMessage");
            let has_calls = self.answer.has_calls();
            self.stop_reason = Some(response::stop_reason(reason, explanation, has_calls)?);
            if reason != "STOP" {
                self.facts.insert("finish_reason".into(), json!(reason));
            }
            if let Some(explanation) = explanation {
                self.facts
                    .insert("finish_message".into(), json!(explanation));
            }
        }
        Ok(())
    }

    /// Takes that the prompt was refused, so that there is no answer.
    fn blocked(&mut self, reason: &str, chunk: &Value) {
        self.stop_reason = Some(StopReason::ContentFilter);
        self.facts.insert("block_reason".into(), json!(reason));
        let message = chunk.pointer("/promptFeedback/blockReasonMessage");
        if let Some(message @ Value::String(_)) = message {
            self.facts
                .insert("block_reason_message".into(), message.clone());
        }
    }
}

/// The first answer of several.
fn candidate(chunk: &Value) -> Option<&Value> {
    let mut candidates = chunk.get("candidates")?.as_array()?.iter();
    candidates.find(|candidate| {
        candidate.is_object()
            && candidate
                .get("index")
                .and_then(Value::as_u64)
                .is_none_or(|index| index == 0)
    })
}

fn block_reason(feedback: &Value) -> Option<&str> {
    let reason = feedback.get("blockReason")?.as_str()?;
    Some(reason).filter(|reason| !reason.is_empty() && *reason != "BLOCKED_REASON_UNSPECIFIED")
}

impl Decoder for GeminiDecoder {
    fn push(&mut self, frame: Frame<'_>, events: &mut Vec<StreamEvent>) -> Result<()> {
        let data = frame.data.trim_ascii();
        if data.is_empty() || data == b"[DONE]" {
            return Ok(());
        }
        // Without `alt=sse` the service answers with one list of its chunks.
        if data.starts_with(b"[")
            && let Ok(Value::Array(chunks)) = serde_json::from_slice(data)
        {
            return chunks
                .iter()
                .try_for_each(|chunk| self.chunk(chunk, events));
        }
        let mut slow = None;
        let chunk: Value = parse(data, &mut slow)?;
        self.chunk(&chunk, events)
    }

    fn progress(&self) -> Progress {
        if self.stop_reason.is_some() {
            Progress::Complete
        } else {
            Progress::Open
        }
    }

    fn usage(&self) -> Usage {
        response::usage(&self.counts)
    }

    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Result<ModelResponse> {
        let stop_reason = match self.stop_reason.clone() {
            Some(reason) => reason,
            None if self.unspecified => {
                response::stop_reason(UNSPECIFIED, None, self.answer.has_calls())?
            }
            None => return Err(broken_off()),
        };
        if !self.started {
            self.start(events);
        }
        let closed = self.answer.close(events);
        closed.map_err(|error| explain_cut(error, &stop_reason))?;
        let usage = self.usage();
        if !self.counts.is_empty() {
            events.push(StreamEvent::Usage { usage });
        }
        let mut metadata = Map::new();
        if let Some(id) = &self.id {
            metadata.insert("id".into(), json!(id));
        }
        metadata.insert("model".into(), self.answering_model().into());
        metadata.append(&mut self.facts);
        Ok(ModelResponse {
            message: Message::new(Role::Assistant, self.answer.take_content()),
            stop_reason,
            usage,
            metadata,
        })
    }
}
