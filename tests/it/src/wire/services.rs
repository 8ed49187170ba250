//! Every service in short: how to reach it, and what it says when it answers, breaks off and refuses.

use serde_json::{Value, json};

use super::case::Case;

/// One service, over one wire format.
pub struct Service {
    /// For messages.
    pub name: &'static str,
    connection: Value,
    /// A whole answer of these pieces of text.
    pub answer: fn(&[&str]) -> Value,
    /// Frames before the first piece of text.
    pub frames_before_text: i64,
    /// The refusal of a request that does not fit the context window.
    pub overflow: Value,
    /// An error in the stream that no second attempt would mend.
    pub refusal: Value,
}

impl Service {
    /// A case that says hello, with more options of the connection.
    #[must_use]
    pub fn hello(&self, options: &Value, deadline_in: Option<f64>) -> Case {
        let mut connection = self.connection.clone();
        let all = connection.as_object_mut().unwrap();
        all.extend(options.as_object().unwrap().clone());
        let request = json!({
            "messages": [{"role": "user", "content": "Hello"}], "deadline_in": deadline_in,
        });
        Case::asking(&connection, "scripted-model", &request)
    }
}

/// Every service.
#[must_use]
pub fn services() -> Vec<Service> {
    let openai = |name: &'static str, adapter: &str, api: Option<&str>| {
        let chat = api != Some("responses");
        let mut connection = json!({"adapter": adapter});
        if let Some(api) = api {
            connection["api"] = json!(api);
        }
        Service {
            name,
            connection,
            answer: if chat { chat_answer } else { responses_answer },
            frames_before_text: if chat { 1 } else { RESPONSES_HEAD },
            overflow: json!({"error": {
                "message": "This model's maximum context length is 128000 tokens.",
                "type": "invalid_request_error", "code": "context_length_exceeded",
            }}),
            refusal: if chat {
                json!({"sse": [
                    {"id": "c", "model": "m", "choices": [{"index": 0, "delta": {"content": "a"}}]},
                    {"error": {"type": "invalid_request_error", "message": "No."}},
                ]})
            } else {
                json!({"responses": {"text": "a", "error": {"code": "invalid_prompt", "message": "No."}}})
            },
        }
    };
    let google = |name: &'static str, adapter: &str| Service {
        name,
        connection: json!({"adapter": adapter}),
        answer: gemini_answer,
        frames_before_text: 0,
        overflow: json!({"error": {
            "code": 400, "status": "INVALID_ARGUMENT",
            "message": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        }}),
        refusal: json!({"sse": [
            gemini_chunk("a", None),
            {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "No."}},
        ]}),
    };
    vec![
        openai("chat", "openai_compatible", Some("chat_completions")),
        openai("responses", "openai", Some("responses")),
        openai("openrouter", "openrouter", None),
        google("gemini", "gemini"),
        google("vertex_ai", "vertex_ai"),
        Service {
            name: "anthropic",
            connection: json!({"adapter": "anthropic"}),
            answer: anthropic_answer,
            frames_before_text: 2,
            overflow: json!({"type": "error", "error": {
                "type": "invalid_request_error",
                "message": "prompt is too long: 250000 tokens > 200000 maximum",
            }}),
            refusal: json!({"sse": [
                anthropic_start(),
                anthropic_event(&json!({"type": "content_block_start", "index": 0,
                    "content_block": {"type": "text", "text": ""}})),
                anthropic_event(&json!({"type": "content_block_delta", "index": 0,
                    "delta": {"type": "text_delta", "text": "a"}})),
                anthropic_event(&json!({"type": "error",
                    "error": {"type": "invalid_request_error", "message": "No."}})),
            ]}),
        },
        Service {
            name: "bedrock",
            connection: json!({"adapter": "bedrock"}),
            answer: converse_answer,
            frames_before_text: 1,
            overflow: json!({"message": "Input is too long for requested model."}),
            refusal: json!({"eventstream": [
                {"event": "messageStart", "data": {"role": "assistant"}},
                converse_text("a"),
                {"exception": "validationException", "data": {"message": "No."}},
            ]}),
        },
    ]
}

/// `response.created`, `response.in_progress`, and the beginnings of an item and its part.
const RESPONSES_HEAD: i64 = 4;

fn chat_answer(pieces: &[&str]) -> Value {
    json!({"chat": {"text": pieces}})
}

fn responses_answer(pieces: &[&str]) -> Value {
    json!({"responses": {"text": pieces}})
}

fn gemini_chunk(text: &str, finish: Option<&str>) -> Value {
    let mut candidate =
        json!({"index": 0, "content": {"role": "model", "parts": [{"text": text}]}});
    let mut chunk = json!({"modelVersion": "scripted-model", "responseId": "r1"});
    if let Some(reason) = finish {
        candidate["finishReason"] = json!(reason);
        chunk["usageMetadata"] =
            json!({"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15});
    }
    chunk["candidates"] = json!([candidate]);
    chunk
}

fn gemini_answer(pieces: &[&str]) -> Value {
    let last = pieces.len() - 1;
    let chunk =
        |(position, text): (usize, &&str)| gemini_chunk(text, (position == last).then_some("STOP"));
    json!({"sse": pieces.iter().enumerate().map(chunk).collect::<Vec<_>>()})
}

fn anthropic_event(data: &Value) -> Value {
    json!({"event": data["type"], "data": data})
}

fn anthropic_start() -> Value {
    anthropic_event(&json!({"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "scripted-model", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 10, "output_tokens": 1},
    }}))
}

fn anthropic_answer(pieces: &[&str]) -> Value {
    let mut events = vec![
        anthropic_start(),
        anthropic_event(&json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "text", "text": ""}})),
    ];
    events.extend(pieces.iter().map(|text| {
        let delta = json!({"type": "text_delta", "text": text});
        anthropic_event(&json!({"type": "content_block_delta", "index": 0, "delta": delta}))
    }));
    events.extend([
        anthropic_event(&json!({"type": "content_block_stop", "index": 0})),
        anthropic_event(&json!({"type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": null}, "usage": {"output_tokens": 5}})),
        anthropic_event(&json!({"type": "message_stop"})),
    ]);
    json!({"sse": events})
}

fn converse_text(text: &str) -> Value {
    json!({"event": "contentBlockDelta", "data": {"contentBlockIndex": 0, "delta": {"text": text}}})
}

fn converse_answer(pieces: &[&str]) -> Value {
    let mut events = vec![json!({"event": "messageStart", "data": {"role": "assistant"}})];
    events.extend(pieces.iter().map(|text| converse_text(text)));
    events.extend([
        json!({"event": "contentBlockStop", "data": {"contentBlockIndex": 0}}),
        json!({"event": "messageStop", "data": {"stopReason": "end_turn"}}),
        json!({"event": "metadata", "data": {
            "usage": {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15}, "metrics": {"latencyMs": 1},
        }}),
    ]);
    json!({"eventstream": events})
}
