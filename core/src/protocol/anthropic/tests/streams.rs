//! Streams for tests.

use serde_json::{Value, json};

use super::super::MessagesDecoder;
use crate::error::Error;
use crate::event::StreamEvent;
use crate::http::Frame;
use crate::model::ModelResponse;
use crate::protocol::Decoder;
use crate::protocol::testing::check_order;

pub(super) struct Decoded {
    pub(super) events: Vec<StreamEvent>,
    pub(super) outcome: Result<ModelResponse, Error>,
}

/// Decodes events; the name goes into the frame as well, as the service does it.
pub(super) fn decode(frames: &[Value]) -> Decoded {
    let mut decoder = MessagesDecoder::new("asked-model");
    let mut events = Vec::new();
    let mut run = || {
        for value in frames {
            let text = match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let frame = Frame {
                event: value["type"].as_str().unwrap_or_default().as_bytes(),
                data: text.as_bytes(),
            };
            decoder.push(frame, &mut events)?;
        }
        decoder.finish(&mut events)
    };
    let outcome = run();
    check_order(&events);
    Decoded { events, outcome }
}

pub(super) fn message_start() -> Value {
    json!({"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 5, "output_tokens": 1},
    }})
}

pub(super) fn start(index: u32, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

pub(super) fn delta(index: u32, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

pub(super) fn text(index: u32, text: &str) -> Value {
    delta(index, json!({"type": "text_delta", "text": text}))
}

pub(super) fn arguments(index: u32, piece: &str) -> Value {
    delta(
        index,
        json!({"type": "input_json_delta", "partial_json": piece}),
    )
}

pub(super) fn call(index: u32, id: &str, name: &str) -> Value {
    start(
        index,
        json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
    )
}

pub(super) fn stop(index: u32) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

pub(super) fn end(reason: &str) -> [Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
            "usage": {"output_tokens": 3}}),
        json!({"type": "message_stop"}),
    ]
}

/// A whole stream: the start, `middle` and the end.
pub(super) fn stream(middle: Vec<Value>, reason: &str) -> Vec<Value> {
    let mut frames = vec![message_start()];
    frames.extend(middle);
    frames.extend(end(reason));
    frames
}
