mod answer_tool;
mod failures;
mod replay;
mod requests;
mod settings;
mod streams;

use serde_json::{Map, Value, json};

use super::{GeminiDecoder, Traits, render_request};
use crate::error::Error;
use crate::event::StreamEvent;
use crate::http::Frame;
use crate::message::Message;
use crate::model::{ModelRequest, ModelResponse};
use crate::protocol::Decoder;

struct Decoded {
    events: Vec<StreamEvent>,
    outcome: Result<ModelResponse, Error>,
    decoder: GeminiDecoder,
}

fn decode_raw(frames: &[&str]) -> Decoded {
    decode_answer("gemini-3-pro", &ModelRequest::default(), frames)
}

/// Decodes what `model` answers to `request`.
fn decode_answer(model: &str, request: &ModelRequest, frames: &[&str]) -> Decoded {
    let mut decoder = GeminiDecoder::new(model).answering(request, Traits::of(model));
    let mut events = Vec::new();
    let mut run = || {
        for data in frames {
            let data = data.as_bytes();
            decoder.push(Frame { event: b"", data }, &mut events)?;
        }
        decoder.finish(&mut events)
    };
    let outcome = run();
    for (position, event) in events.iter().enumerate() {
        let starts = matches!(event, StreamEvent::MessageStart { .. });
        assert_eq!(starts, position == 0, "{events:?}");
    }
    Decoded {
        events,
        outcome,
        decoder,
    }
}

fn decode(chunks: &[Value]) -> Decoded {
    let texts: Vec<String> = chunks.iter().map(Value::to_string).collect();
    let frames: Vec<&str> = texts.iter().map(String::as_str).collect();
    decode_raw(&frames)
}

/// A chunk with these parts.
fn parts(parts: Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}],
        "modelVersion": "gemini-3-pro-001", "responseId": "r1"})
}

/// The last chunk, for this reason.
fn end(reason: &str) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": [{"text": ""}]},
        "finishReason": reason, "index": 0}], "modelVersion": "gemini-3-pro-001",
        "responseId": "r1"})
}

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        messages: messages.into(),
        ..ModelRequest::default()
    }
}

fn with_settings(settings: Value) -> ModelRequest {
    ModelRequest {
        settings: settings.as_object().cloned().unwrap_or_default(),
        ..request(vec![Message::user("Hi")])
    }
}

fn rendered(model: &str, request: &ModelRequest) -> Map<String, Value> {
    render_request(request, Traits::of(model)).unwrap()
}

/// The contents of a request with these messages.
fn contents(model: &str, messages: Vec<Message>) -> Value {
    rendered(model, &request(messages))["contents"].clone()
}
