use serde_json::{Value, json};

use super::{decode, decode_raw, end, parts};
use crate::error::ErrorKind;
use crate::event::StreamEvent;
use crate::message::{Content, Usage};
use crate::model::StopReason;
use crate::protocol::testing::summary;
use crate::protocol::{Decoder, Progress};

#[test]
fn text_thoughts_and_calls_arrive_in_order() {
    let decoded = decode(&[
        parts(json!([{"text": "Let me ", "thought": true}])),
        parts(json!([{"text": "see.", "thought": true}, {"text": "Grü"}])),
        parts(json!([{"text": "ezi"}])),
        parts(
            json!([{"functionCall": {"id": "c1", "name": "add", "args": {"a": 1}}},
            {"functionCall": {"name": "now"}}]),
        ),
        json!({"candidates": [{"finishReason": "STOP"}], "usageMetadata": {
            "promptTokenCount": 10, "candidatesTokenCount": 4, "thoughtsTokenCount": 3,
            "totalTokenCount": 17}}),
    ]);
    assert_eq!(
        summary(&decoded.events),
        [
            "message_start r1 gemini-3-pro-001",
            "reasoning_delta Let me ",
            "reasoning_delta see.",
            "text_delta Grü",
            "text_delta ezi",
            "tool_call_start 0 c1 add",
            r#"tool_call_stop 0 c1 add {"a":1}"#,
            "tool_call_start 1 generated-r1-1 now",
            "tool_call_stop 1 generated-r1-1 now {}",
            "usage 10 4 0 0 3",
        ]
    );
    let response = decoded.outcome.unwrap();
    assert_eq!(response.stop_reason, StopReason::ToolUse);
    assert_eq!(response.message.text(), "Grüezi");
    assert_eq!(response.message.content.len(), 4);
    assert_eq!(
        Value::Object(response.metadata),
        json!({"id": "r1", "model": "gemini-3-pro-001"})
    );
}

#[test]
fn ids_of_calls_are_unique_whatever_the_service_says() {
    let twice = json!([{"functionCall": {"id": "same", "name": "a", "args": {}}},
        {"functionCall": {"id": "same", "name": "b", "args": {}}}]);
    let nameless = json!({"candidates": [{"content": {"parts": [
        {"functionCall": {"name": "c", "args": "{\"x\": 1}"}}]}, "finishReason": "STOP"}]});
    let ids = |chunks: &[Value]| -> Vec<String> {
        let response = decode(chunks).outcome.unwrap();
        let uses = response.message.tool_uses();
        uses.map(|tool_use| tool_use.id.clone()).collect()
    };
    assert_eq!(
        ids(&[parts(twice), end("STOP")]),
        ["same", "generated-r1-1"]
    );
    let nameless = [nameless];
    let (first, second) = (ids(&nameless), ids(&nameless));
    assert!(first[0].starts_with("generated-") && first != second);
}

#[test]
fn odd_chunks_are_no_error() {
    let decoded = decode_raw(&[
        "",
        "{}",
        r#"{"candidates":[]}"#,
        r#"{"candidates":null,"usageMetadata":{"promptTokenCount":9},"future":1}"#,
        r#"{"candidates":[{"content":null}]}"#,
        r#"{"candidates":[{"content":{"role":"model"}},null]}"#,
        r#"{"candidates":[{"content":{"parts":[null,{},{"text":null},{"text":"a"}]}}]}"#,
        r#"{"candidates":[{"index":1,"content":{"parts":[{"text":"no"}]},"finishReason":"STOP"}]}"#,
        r#"{"candidates":[{"index":0,"content":{"parts":[{"text":"b"}]},"finishReason":"STOP"}]}"#,
        r#"{"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,"totalTokenCount":11}}"#,
        "[DONE]",
    ]);
    assert_eq!(
        summary(&decoded.events),
        [
            "message_start - gemini-3-pro",
            "text_delta a",
            "text_delta b",
            "usage 9 2 0 0 0",
        ]
    );
    assert_eq!(decoded.outcome.unwrap().message.text(), "ab");
}

#[test]
fn a_list_of_chunks_is_an_answer() {
    let list = json!([parts(json!([{"text": "a"}])), end("STOP")]).to_string();
    let decoded = decode_raw(&[&list]);
    assert_eq!(decoded.outcome.unwrap().message.text(), "a");
    let error = decode_raw(&[r#"[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}]"#]);
    assert_eq!(error.outcome.unwrap_err().kind(), ErrorKind::Provider);
    let broken = decode_raw(&["[{\"candidates\":"]);
    assert_eq!(broken.outcome.unwrap_err().kind(), ErrorKind::Protocol);
}

#[test]
fn every_token_is_counted_once() {
    for (counts, expected) in [
        (
            json!({"promptTokenCount": 100, "cachedContentTokenCount": 60,
                "candidatesTokenCount": 5, "thoughtsTokenCount": 7,
                "toolUsePromptTokenCount": 3, "totalTokenCount": 115}),
            [43, 5, 60, 7],
        ),
        // A service that counts thoughts as part of the answer.
        (
            json!({"promptTokenCount": 10, "candidatesTokenCount": 9, "thoughtsTokenCount": 7,
                "totalTokenCount": 19}),
            [10, 2, 0, 7],
        ),
        // A part that exceeds its whole is no reason to panic.
        (
            json!({"promptTokenCount": 1, "cachedContentTokenCount": 2,
                "candidatesTokenCount": "many", "totalTokenCount": null}),
            [0, 0, 2, 0],
        ),
    ] {
        let last = json!({"candidates": [{"finishReason": "STOP"}], "usageMetadata": counts});
        let decoded = decode(&[parts(json!([{"text": "a"}])), last]);
        let [
            input_tokens,
            output_tokens,
            cache_read_tokens,
            reasoning_tokens,
        ] = expected;
        let usage = Usage {
            input_tokens,
            output_tokens,
            cache_read_tokens,
            cache_write_tokens: 0,
            reasoning_tokens,
        };
        assert_eq!(decoded.outcome.unwrap().usage, usage);
        let announced = decoded
            .events
            .iter()
            .filter(|event| event.kind() == "usage");
        assert_eq!(announced.count(), 1);
    }
}

#[test]
fn counts_of_a_broken_answer_are_known() {
    let mut chunk = parts(json!([{"text": "a"}]));
    chunk["usageMetadata"] = json!({"promptTokenCount": 8, "candidatesTokenCount": 1});
    let decoded = decode(&[chunk]);
    assert_eq!(decoded.outcome.unwrap_err().kind(), ErrorKind::Protocol);
    assert_eq!(decoded.decoder.usage().total_tokens(), 9);
    assert_eq!(decoded.decoder.progress(), Progress::Open);
}

#[test]
fn every_reason_to_stop_is_understood() {
    for (reason, with_call, expected) in [
        ("STOP", false, "end_turn"),
        ("STOP", true, "tool_use"),
        ("FINISH_REASON_UNSPECIFIED", false, "end_turn"),
        ("MAX_TOKENS", true, "max_tokens"),
        ("CONTINUATION", false, "max_tokens"),
        ("SAFETY", false, "content_filter"),
        ("RECITATION", false, "content_filter"),
        ("LANGUAGE", false, "content_filter"),
        ("BLOCKLIST", false, "content_filter"),
        ("PROHIBITED_CONTENT", false, "content_filter"),
        ("SPII", false, "content_filter"),
        ("IMAGE_SAFETY", false, "content_filter"),
        ("IMAGE_PROHIBITED_CONTENT", false, "content_filter"),
        ("IMAGE_RECITATION", false, "content_filter"),
        ("MODEL_ARMOR", false, "content_filter"),
        ("ESCALATION", false, "content_filter"),
        ("PUP_LIMITED_DISABLED", false, "content_filter"),
        ("OTHER", false, "other"),
        ("NO_IMAGE", false, "no_image"),
        ("IMAGE_OTHER", false, "image_other"),
        ("TOO_MANY_TOOL_CALLS", false, "too_many_tool_calls"),
        ("A_NEW_ONE", true, "tool_use"),
    ] {
        let part = if with_call {
            json!([{"functionCall": {"name": "f", "args": {}}}])
        } else {
            json!([{"text": "a"}])
        };
        let response = decode(&[parts(part), end(reason)]).outcome.unwrap();
        assert_eq!(response.stop_reason.as_str(), expected, "{reason}");
        let plain = ["STOP", "FINISH_REASON_UNSPECIFIED"].contains(&reason);
        let noted = response.metadata.get("finish_reason");
        assert_eq!(noted, (!plain).then(|| json!(reason)).as_ref());
    }
}

#[test]
fn a_refused_prompt_is_an_empty_answer() {
    let decoded = decode(&[
        json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT",
        "blockReasonMessage": "No."}, "usageMetadata": {"promptTokenCount": 4,
        "totalTokenCount": 4}}),
    ]);
    assert_eq!(
        summary(&decoded.events),
        ["message_start - gemini-3-pro", "usage 4 0 0 0 0"]
    );
    let response = decoded.outcome.unwrap();
    assert_eq!(response.stop_reason, StopReason::ContentFilter);
    assert!(response.message.content.is_empty());
    assert_eq!(response.metadata["block_reason"], "PROHIBITED_CONTENT");
    assert_eq!(response.metadata["block_reason_message"], "No.");
}

#[test]
fn images_and_facts_of_an_answer_are_kept() {
    let mut last = end("STOP");
    last["candidates"][0]["groundingMetadata"] = json!({"webSearchQueries": ["x"]});
    let decoded = decode(&[
        parts(json!([{"text": "Here:"},
            {"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}}])),
        last,
    ]);
    let response = decoded.outcome.unwrap();
    assert_eq!(
        response.message.content[1],
        Content::image(b"\x89PNG".to_vec(), "image/png")
    );
    assert_eq!(
        response.metadata["grounding_metadata"],
        json!({"webSearchQueries": ["x"]})
    );
    assert!(
        !decoded
            .events
            .iter()
            .any(|event| matches!(event, StreamEvent::ToolCallStart { .. }))
    );
}

#[test]
fn arguments_may_arrive_in_pieces() {
    let piece = |call: Value| parts(json!([{"functionCall": call}]));
    let begun = [
        parts(
            json!([{"functionCall": {"id": "c1", "name": "f", "willContinue": true},
            "thoughtSignature": "c2ln"}]),
        ),
        piece(
            json!({"partialArgs": [{"jsonPath": "$.city", "stringValue": "Be",
            "willContinue": true}], "willContinue": true}),
        ),
        piece(
            json!({"partialArgs": [{"jsonPath": "$.city", "stringValue": "rn"}],
            "willContinue": true}),
        ),
    ];
    let mut whole = begun.to_vec();
    whole.extend([piece(json!({})), piece(json!({"name": "g"})), end("STOP")]);
    let decoded = decode(&whole);
    assert_eq!(
        summary(&decoded.events),
        [
            "message_start r1 gemini-3-pro-001",
            "tool_call_start 0 c1 f",
            r#"tool_call_stop 0 c1 f {"city":"Bern"}"#,
            "tool_call_start 1 generated-r1-1 g",
            "tool_call_stop 1 generated-r1-1 g {}",
        ]
    );
    assert_eq!(decoded.outcome.unwrap().stop_reason, StopReason::ToolUse);
    for reason in ["STOP", "MAX_TOKENS"] {
        let mut cut = begun.to_vec();
        cut.push(end(reason));
        let error = decode(&cut).outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::MalformedToolCall);
        let limited = error.message().contains("max_tokens");
        assert_eq!(limited, reason == "MAX_TOKENS", "{error}");
    }
}
