use serde_json::{Value, json};

use crate::error::{Error, ErrorKind, Retry};
use crate::event::StreamEvent;
use crate::http::Frame;
use crate::message::{Content, Usage};
use crate::model::{ModelResponse, StopReason};
use crate::protocol::converse::ConverseDecoder;
use crate::protocol::testing::{check_order, summary};
use crate::protocol::{Decoder, Progress};

struct Decoded {
    events: Vec<StreamEvent>,
    outcome: Result<ModelResponse, Error>,
    usage: Usage,
}

impl Decoded {
    fn response(&self) -> &ModelResponse {
        self.outcome.as_ref().unwrap()
    }

    fn error(&self) -> &Error {
        self.outcome.as_ref().unwrap_err()
    }
}

/// Decodes events, stopping as soon as nothing can follow, as the engine does.
fn decode(frames: &[(&str, Value)]) -> Decoded {
    let mut decoder = ConverseDecoder::new("asked-model");
    let mut events = Vec::new();
    let mut run = || {
        for (event, data) in frames {
            let data = data.to_string();
            let frame = Frame {
                event: event.as_bytes(),
                data: data.as_bytes(),
            };
            decoder.push(frame, &mut events)?;
            if decoder.progress() == Progress::Done {
                break;
            }
        }
        decoder.finish(&mut events)
    };
    let outcome = run();
    check_order(&events);
    Decoded {
        events,
        outcome,
        usage: decoder.usage(),
    }
}

type Event = (&'static str, Value);

fn start() -> Event {
    ("messageStart", json!({"role": "assistant", "p": "abcdef"}))
}

fn text(index: u32, piece: &str) -> Event {
    delta(index, json!({"text": piece}))
}

fn delta(index: u32, delta: Value) -> Event {
    (
        "contentBlockDelta",
        json!({"contentBlockIndex": index, "delta": delta, "p": "abc"}),
    )
}

fn call(index: u32, id: &str, name: &str) -> Event {
    (
        "contentBlockStart",
        json!({"contentBlockIndex": index, "start": {"toolUse": {"toolUseId": id, "name": name}}}),
    )
}

fn input(index: u32, piece: &str) -> Event {
    delta(index, json!({"toolUse": {"input": piece}}))
}

fn end(index: u32) -> Event {
    ("contentBlockStop", json!({"contentBlockIndex": index}))
}

fn stop(reason: &str) -> Event {
    ("messageStop", json!({"stopReason": reason}))
}

fn metadata() -> Event {
    (
        "metadata",
        json!({"usage": {"inputTokens": 9, "outputTokens": 4, "totalTokens": 13},
            "metrics": {"latencyMs": 5}}),
    )
}

#[test]
fn text_is_streamed_and_ends() {
    let decoded = decode(&[
        start(),
        text(0, "Hel"),
        text(0, ""),
        text(0, "lo"),
        end(0),
        stop("end_turn"),
        metadata(),
    ]);
    assert_eq!(
        summary(&decoded.events),
        [
            "message_start - asked-model",
            "text_delta Hel",
            "text_delta lo",
            "usage 9 4 0 0 0"
        ]
    );
    let response = decoded.response();
    assert_eq!(response.message.text(), "Hello");
    assert_eq!(response.stop_reason, StopReason::EndTurn);
    assert_eq!(
        Value::Object(response.metadata.clone()),
        json!({"model": "asked-model"})
    );
}

#[test]
fn calls_are_announced_grow_and_stop_in_order() {
    let decoded = decode(&[
        start(),
        text(0, "Looking."),
        end(0),
        call(1, "t1", "weather"),
        input(1, ""),
        input(1, "{\"city_"),
        input(1, "name\":\"Bern\"}"),
        end(1),
        call(2, "t2", "clock"),
        end(2),
        stop("tool_use"),
        metadata(),
    ]);
    assert_eq!(
        summary(&decoded.events)[2..],
        [
            "tool_call_start 1 t1 weather",
            "tool_call_delta 1 {\"city_",
            "tool_call_delta 1 name\":\"Bern\"}",
            "tool_call_stop 1 t1 weather {\"city_name\":\"Bern\"}",
            "tool_call_start 2 t2 clock",
            "tool_call_stop 2 t2 clock {}",
            "usage 9 4 0 0 0",
        ]
    );
    assert_eq!(decoded.response().stop_reason, StopReason::ToolUse);
    let names: Vec<&str> = decoded
        .response()
        .message
        .tool_uses()
        .map(|call| call.name.as_str())
        .collect();
    assert_eq!(names, ["weather", "clock"]);
}

#[test]
fn drifting_positions_of_calls_are_made_out() {
    // Two calls at one place; both are kept, and get different indexes.
    let same = decode(&[
        start(),
        call(0, "a", "f"),
        input(0, "{\"x\":1}"),
        call(0, "b", "f"),
        input(0, "{\"x\":2}"),
        stop("tool_use"),
        metadata(),
    ]);
    let inputs: Vec<Value> = same
        .response()
        .message
        .tool_uses()
        .map(|call| call.input["x"].clone())
        .collect();
    assert_eq!(inputs, [json!(1), json!(2)]);
    // No positions at all: a start opens, what has none continues.
    let none = decode(&[
        start(),
        (
            "contentBlockStart",
            json!({"start": {"toolUse": {"toolUseId": "a", "name": "f"}}}),
        ),
        (
            "contentBlockDelta",
            json!({"delta": {"toolUse": {"input": "{\"x\":"}}}),
        ),
        (
            "contentBlockDelta",
            json!({"delta": {"toolUse": {"input": "1}"}}}),
        ),
        ("contentBlockStop", json!({})),
        (
            "contentBlockStart",
            json!({"start": {"toolUse": {"toolUseId": "b", "name": "f"}}}),
        ),
        (
            "contentBlockDelta",
            json!({"delta": {"toolUse": {"input": {"x": 2}}}}),
        ),
        stop("tool_use"),
        metadata(),
    ]);
    let inputs: Vec<Value> = none
        .response()
        .message
        .tool_uses()
        .map(|call| call.input["x"].clone())
        .collect();
    assert_eq!(inputs, [json!(1), json!(2)]);
    // The same start twice is one call.
    let twice = decode(&[
        start(),
        call(3, "a", "f"),
        call(3, "a", "f"),
        input(3, "{}"),
        end(3),
        stop("tool_use"),
        metadata(),
    ]);
    assert_eq!(twice.response().message.tool_uses().count(), 1);
    // A fragment that belongs nowhere is the open call's.
    let stray = decode(&[
        start(),
        call(0, "a", "f"),
        input(0, "{\"x\""),
        input(1, ":1}"),
        stop("tool_use"),
        metadata(),
    ]);
    assert_eq!(
        stray.response().message.tool_uses().next().unwrap().input["x"],
        1
    );
}

#[test]
fn reasoning_keeps_its_signature_and_its_opaque_parts() {
    let decoded = decode(&[
        start(),
        delta(0, json!({"reasoningContent": {"text": "Let me "}})),
        delta(0, json!({"reasoningContent": {"text": "see."}})),
        delta(0, json!({"reasoningContent": {"signature": "c2ln"}})),
        delta(0, json!({"reasoningContent": {"signature": "+/=="}})),
        end(0),
        delta(1, json!({"reasoningContent": {"redactedContent": "AP8="}})),
        delta(1, json!({"reasoningContent": {"redactedContent": "AQ=="}})),
        end(1),
        text(2, "Hi"),
        stop("end_turn"),
        metadata(),
    ]);
    assert_eq!(
        summary(&decoded.events)[1..4],
        [
            "reasoning_delta Let me ",
            "reasoning_delta see.",
            "text_delta Hi"
        ]
    );
    let [
        Content::Reasoning(thought),
        Content::Reasoning(opaque),
        Content::Text(_),
    ] = &decoded.response().message.content[..]
    else {
        panic!("{:?}", decoded.response().message);
    };
    assert_eq!(thought.text, "Let me see.");
    assert_eq!(thought.signature.as_deref(), Some("c2ln+/=="));
    assert_eq!(opaque.redacted_content.as_deref(), Some(&[0, 255, 1][..]));
    let broken = decode(&[
        start(),
        delta(0, json!({"reasoningContent": {"redactedContent": "?"}})),
    ]);
    assert_eq!(broken.error().kind(), ErrorKind::Protocol);
}

#[test]
fn every_reason_to_stop_has_a_meaning() {
    for (word, expected) in [
        ("end_turn", StopReason::EndTurn),
        ("stop_sequence", StopReason::EndTurn),
        ("tool_use", StopReason::EndTurn),
        ("max_tokens", StopReason::MaxTokens),
        ("model_context_window_exceeded", StopReason::MaxTokens),
        ("guardrail_intervened", StopReason::ContentFilter),
        ("content_filtered", StopReason::ContentFilter),
        ("a_reason_of_later_days", StopReason::EndTurn),
        ("", StopReason::EndTurn),
    ] {
        let decoded = decode(&[start(), text(0, "x"), stop(word), metadata()]);
        assert_eq!(decoded.response().stop_reason, expected, "{word}");
    }
    for (word, expected) in [
        ("malformed_tool_use", ErrorKind::MalformedToolCall),
        ("malformed_model_output", ErrorKind::Protocol),
    ] {
        let decoded = decode(&[start(), text(0, "x"), stop(word), metadata()]);
        assert_eq!(decoded.error().kind(), expected);
        // What it cost is known all the same.
        assert_eq!(decoded.usage.output_tokens, 4);
    }
    let calls = decode(&[start(), call(0, "a", "f"), stop("end_turn"), metadata()]);
    assert_eq!(calls.response().stop_reason, StopReason::ToolUse);
}

#[test]
fn every_token_is_counted_once() {
    for (usage, expected) in [
        // The service counts the cache apart, and says so in the total.
        (
            json!({"inputTokens": 10, "outputTokens": 5, "totalTokens": 1_115,
                "cacheReadInputTokens": 1_000, "cacheWriteInputTokens": 100}),
            (10, 5, 1_000, 100),
        ),
        (
            json!({"inputTokens": 2_000, "outputTokens": 5, "totalTokens": 3_105,
                "cacheReadInputTokens": 1_000, "cacheWriteInputTokens": 100}),
            (2_000, 5, 1_000, 100),
        ),
        // It cannot include what is more than it.
        (
            json!({"inputTokens": 10, "outputTokens": 5, "totalTokens": 15,
                "cacheReadInputTokens": 1_000}),
            (10, 5, 1_000, 0),
        ),
        // The input includes the cache.
        (
            json!({"inputTokens": 100, "outputTokens": 20, "totalTokens": 120,
                "cacheReadInputTokens": 30, "cacheWriteInputTokens": 10}),
            (60, 20, 30, 10),
        ),
        (
            json!({"inputTokens": 7, "outputTokens": null}),
            (7, 0, 0, 0),
        ),
    ] {
        let event = ("metadata", json!({"usage": usage}));
        let decoded = decode(&[start(), stop("end_turn"), event]);
        let seen = decoded.response().usage;
        assert_eq!(
            (
                seen.input_tokens,
                seen.output_tokens,
                seen.cache_read_tokens,
                seen.cache_write_tokens
            ),
            expected,
            "{usage}"
        );
    }
}

#[test]
fn a_call_that_cannot_be_used_is_an_error_that_says_why() {
    let cut = decode(&[
        start(),
        call(0, "a", "f"),
        input(0, "{\"x\": [1,"),
        end(0),
        stop("max_tokens"),
        metadata(),
    ]);
    assert_eq!(cut.error().kind(), ErrorKind::MalformedToolCall);
    assert!(
        cut.error().message().contains("max_tokens"),
        "{}",
        cut.error()
    );
    assert_eq!(cut.usage.output_tokens, 4);
    for (id, name, arguments) in [("a", "f", "[1]"), ("", "f", "{}"), ("a", "", "{}")] {
        let decoded = decode(&[
            start(),
            call(0, id, name),
            input(0, arguments),
            stop("tool_use"),
            metadata(),
        ]);
        assert_eq!(decoded.error().kind(), ErrorKind::MalformedToolCall);
    }
}

#[test]
fn what_the_service_does_by_itself_is_no_call() {
    let search = json!({"contentBlockIndex": 0, "start": {"toolUse":
        {"toolUseId": "s1", "name": "nova_grounding", "type": "server_tool_use"}}});
    let found = json!({"contentBlockIndex": 1, "start": {"toolResult": {"toolUseId": "s1"}}});
    let decoded = decode(&[
        start(),
        ("contentBlockStart", search),
        input(0, "{\"q\": 1}"),
        end(0),
        ("contentBlockStart", found),
        delta(1, json!({"toolResult": [{"text": "Found."}]})),
        end(1),
        text(2, "Here."),
        delta(
            2,
            json!({"citation": {"title": "A", "location": {"web": {"url": "https://a.test"}}}}),
        ),
        end(2),
        stop("end_turn"),
        metadata(),
    ]);
    assert_eq!(
        summary(&decoded.events),
        [
            "message_start - asked-model",
            "text_delta Here.",
            "usage 9 4 0 0 0"
        ]
    );
    assert_eq!(
        &decoded.response().message.content[..],
        [Content::text("Here.")]
    );
}

#[test]
fn failures_in_the_stream_say_whether_to_try_again() {
    let failed = decode(&[
        start(),
        text(0, "Hel"),
        (
            "throttlingException",
            json!({"message": "Too many requests."}),
        ),
    ]);
    let error = failed.error();
    assert_eq!(error.kind(), ErrorKind::Provider);
    assert_eq!(error.code(), Some("throttling_exception"));
    assert_eq!(error.retry(), Retry::Backoff);
    assert!(error.message().contains("Too many requests."));
    let unknown = decode(&[("InternalFailureException", json!({"message": "Oh."}))]);
    assert_eq!(unknown.error().kind(), ErrorKind::Provider);
    let late = decode(&[
        start(),
        text(0, "Hi"),
        stop("end_turn"),
        ("internalServerException", json!({})),
    ]);
    assert_eq!(late.response().message.text(), "Hi");
}

#[test]
fn a_stream_without_an_end_broke_off() {
    for events in [&[][..], &[start()], &[start(), text(0, "Hi"), end(0)]] {
        let error = decode(events).outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol);
        assert_eq!(error.retry(), Retry::Backoff);
    }
    // The counts may be missing, but the answer is whole.
    let decoded = decode(&[start(), text(0, "Hi"), stop("end_turn")]);
    assert_eq!(decoded.response().message.text(), "Hi");
    assert_eq!(summary(&decoded.events).last().unwrap(), "text_delta Hi");
}

#[test]
fn oddities_are_passed_over() {
    let decoded = decode(&[
        (
            "contentBlockDelta",
            json!({"contentBlockIndex": 0, "delta": null}),
        ),
        (
            "contentBlockStart",
            json!({"contentBlockIndex": 0, "start": null}),
        ),
        ("initial-response", json!({})),
        (
            "newsOfLaterDays",
            json!({"contentBlockIndex": "x", "delta": {"text": 5}}),
        ),
        delta(
            0,
            json!({"text": null, "toolUse": null, "reasoningContent": null}),
        ),
        text(0, "Hi"),
        (
            "messageStop",
            json!({"stopReason": "end_turn", "additionalModelResponseFields": {"stop_sequence": "END"}}),
        ),
        ("metadata", json!({"usage": null})),
        metadata(),
    ]);
    assert_eq!(
        summary(&decoded.events),
        [
            "message_start - asked-model",
            "text_delta Hi",
            "usage 9 4 0 0 0"
        ]
    );
    assert_eq!(
        decoded.response().metadata["additional_model_response_fields"],
        json!({"stop_sequence": "END"})
    );
    let mut decoder = ConverseDecoder::new("m");
    let frame = Frame {
        event: b"contentBlockDelta",
        data: b"{\"delta\"",
    };
    let error = decoder.push(frame, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol);
}

#[test]
fn an_answer_that_is_one_document_is_read_as_well() {
    let decoded = decode(&[(
        "",
        json!({
            "output": {"message": {"role": "assistant", "content": [
                {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "sig"}}},
                {"reasoningContent": {"redactedContent": "AP8="}},
                {"text": "Looking."},
                {"toolUse": {"toolUseId": "t1", "name": "weather", "input": {"city": "Bern"}}},
            ]}},
            "stopReason": "tool_use",
            "usage": {"inputTokens": 9, "outputTokens": 4, "totalTokens": 13},
            "metrics": {"latencyMs": 5},
        }),
    )]);
    assert_eq!(
        summary(&decoded.events),
        [
            "message_start - asked-model",
            "reasoning_delta Hm.",
            "text_delta Looking.",
            "tool_call_start 3 t1 weather",
            "tool_call_delta 3 {\"city\":\"Bern\"}",
            "tool_call_stop 3 t1 weather {\"city\":\"Bern\"}",
            "usage 9 4 0 0 0",
        ]
    );
    assert_eq!(decoded.response().message.content.len(), 4);
    assert_eq!(decoded.response().stop_reason, StopReason::ToolUse);
    let failed = decode(&[(
        "",
        json!({"__type": "ThrottlingException", "message": "Slow."}),
    )]);
    assert_eq!(failed.error().code(), Some("throttling_exception"));
    let strange = decode(&[("", json!({"hello": 1}))]);
    assert_eq!(strange.error().kind(), ErrorKind::Protocol);
}
