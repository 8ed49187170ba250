use serde_json::{Value, json};

use super::streams::{
    Decoded, arguments, call, decode, delta, end, message_start, start, stop, stream, text,
};
use crate::error::{ErrorKind, Retry};
use crate::message::{Content, Reasoning, Usage};
use crate::model::StopReason;
use crate::protocol::testing::summary;

fn calls(decoded: Decoded) -> Vec<(String, String)> {
    let response = decoded.outcome.unwrap();
    let uses = response.message.tool_uses();
    uses.map(|call| (call.id.clone(), json!(call.input).to_string()))
        .collect()
}

#[test]
fn text_is_streamed_and_ends() {
    let decoded = decode(&stream(
        vec![
            start(0, json!({"type": "text", "text": ""})),
            json!({"type": "ping"}),
            text(0, "Hel"),
            delta(
                0,
                json!({"type": "citations_delta", "citation": {"cited_text": "x"}}),
            ),
            text(0, "lo"),
            stop(0),
            json!({"type": "something_new", "delta": {"text": "not this"}}),
        ],
        "end_turn",
    ));
    assert_eq!(
        summary(&decoded.events),
        [
            "message_start msg_1 m",
            "text_delta Hel",
            "text_delta lo",
            "usage 5 3 0 0 0"
        ]
    );
    let response = decoded.outcome.unwrap();
    assert_eq!(*response.message.content, [Content::text("Hello")]);
    assert_eq!(response.stop_reason, StopReason::EndTurn);
    assert_eq!(
        json!(response.metadata),
        json!({"id": "msg_1", "model": "m"})
    );
}

#[test]
fn parallel_calls_stop_when_their_blocks_do() {
    let decoded = decode(&stream(
        vec![
            call(0, "a", "f"),
            arguments(0, ""),
            arguments(0, "{\"x\""),
            arguments(0, ":1}"),
            stop(0),
            call(1, "b", "g"),
            stop(1),
        ],
        "tool_use",
    ));
    assert_eq!(
        summary(&decoded.events),
        [
            "message_start msg_1 m",
            "tool_call_start 0 a f",
            "tool_call_delta 0 {\"x\"",
            "tool_call_delta 0 :1}",
            "tool_call_stop 0 a f {\"x\":1}",
            "tool_call_start 1 b g",
            "tool_call_stop 1 b g {}",
            "usage 5 3 0 0 0",
        ]
    );
    assert_eq!(decoded.outcome.unwrap().stop_reason, StopReason::ToolUse);
}

#[test]
fn calls_survive_missing_constant_and_drifting_positions() {
    let expected = [
        ("a".to_owned(), "{\"x\":1}".to_owned()),
        ("b".to_owned(), "{\"y\":2}".to_owned()),
    ];
    let constant = stream(
        vec![
            call(0, "a", "f"),
            arguments(0, "{\"x\":1}"),
            call(0, "b", "f"),
            arguments(0, "{\"y\":2}"),
        ],
        "tool_use",
    );
    assert_eq!(calls(decode(&constant)), expected);
    let missing: Vec<Value> = constant
        .iter()
        .map(|frame| {
            let mut frame = frame.clone();
            frame.as_object_mut().unwrap().shift_remove("index");
            frame
        })
        .collect();
    assert_eq!(calls(decode(&missing)), expected);
    // Announced anew with each piece.
    let repeated = stream(
        vec![
            call(0, "a", "f"),
            arguments(0, "{\"x\""),
            call(0, "a", "f"),
            arguments(0, ":1}"),
            call(1, "b", "f"),
            arguments(7, "{\"y\":2}"),
        ],
        "tool_use",
    );
    assert_eq!(calls(decode(&repeated)), expected);
    // Both open at once, as no one forbids.
    let mixed = stream(
        vec![
            call(1, "a", "f"),
            call(2, "b", "f"),
            arguments(2, "{\"y\""),
            arguments(1, "{\"x\":1}"),
            arguments(2, ":2}"),
            stop(1),
            stop(2),
        ],
        "tool_use",
    );
    assert_eq!(calls(decode(&mixed)), expected);
}

#[test]
fn arguments_may_come_with_the_beginning() {
    let whole = json!({"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}});
    let decoded = decode(&stream(vec![start(0, whole.clone()), stop(0)], "tool_use"));
    assert_eq!(
        summary(&decoded.events)[1..4],
        [
            "tool_call_start 0 a f",
            "tool_call_delta 0 {\"x\":1}",
            "tool_call_stop 0 a f {\"x\":1}"
        ]
    );
    // What is streamed after it wins.
    let streamed = stream(vec![start(0, whole), arguments(0, "{\"x\":2}")], "tool_use");
    assert_eq!(
        calls(decode(&streamed)),
        [("a".to_owned(), "{\"x\":2}".to_owned())]
    );
}

#[test]
fn thinking_is_kept_as_it_came() {
    let decoded = decode(&stream(
        vec![
            start(
                0,
                json!({"type": "thinking", "thinking": "", "signature": ""}),
            ),
            delta(0, json!({"type": "thinking_delta", "thinking": "Hm"})),
            delta(0, json!({"type": "thinking_delta", "thinking": "m."})),
            delta(
                0,
                json!({"type": "signature_delta", "signature": "c2ln/+=="}),
            ),
            stop(0),
            start(
                1,
                json!({"type": "redacted_thinking", "data": "b3BhcXVl+/=="}),
            ),
            stop(1),
            start(
                2,
                json!({"type": "thinking", "thinking": "", "signature": ""}),
            ),
            delta(2, json!({"type": "signature_delta", "signature": "only"})),
            stop(2),
            start(3, json!({"type": "text", "text": ""})),
            text(3, "So."),
            stop(3),
        ],
        "end_turn",
    ));
    assert_eq!(
        summary(&decoded.events)[1..4],
        ["reasoning_delta Hm", "reasoning_delta m.", "text_delta So."]
    );
    let signed = |text: &str, signature: &str| {
        Content::Reasoning(Reasoning {
            text: text.into(),
            signature: Some(signature.into()),
            ..Reasoning::default()
        })
    };
    let redacted = Content::Reasoning(Reasoning {
        redacted_content: Some("b3BhcXVl+/==".into()),
        ..Reasoning::default()
    });
    assert_eq!(
        *decoded.outcome.unwrap().message.content,
        [
            signed("Hmm.", "c2ln/+=="),
            redacted,
            signed("", "only"),
            Content::text("So.")
        ]
    );
}

#[test]
fn what_the_service_runs_itself_is_passed_over() {
    let decoded = decode(&stream(
        vec![
            start(
                0,
                json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}),
            ),
            arguments(0, "{\"query\":"),
            arguments(0, "\"x\"}"),
            stop(0),
            start(
                1,
                json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": []}),
            ),
            stop(1),
            text(2, "Found"),
        ],
        "pause_turn",
    ));
    assert_eq!(
        summary(&decoded.events),
        [
            "message_start msg_1 m",
            "text_delta Found",
            "usage 5 3 0 0 0"
        ]
    );
    let response = decoded.outcome.unwrap();
    assert_eq!(response.stop_reason, StopReason::EndTurn);
    assert_eq!(*response.message.content, [Content::text("Found")]);
}

#[test]
fn odd_events_do_no_harm() {
    // No message_start, nulls, a delta for a block that never began, a reason with the text.
    let decoded = decode(&[
        json!({"type": "content_block_delta", "index": null, "delta": null}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": null}}),
        json!({"type": "content_block_start", "index": 0, "content_block": null}),
        text(4, "Hi"),
        json!({"type": "content_block_stop"}),
        json!({"type": "content_block_stop", "index": 9}),
        json!({"type": "message_delta", "delta": {"stop_reason": null}, "usage": null}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
            "usage": {"input_tokens": 2, "output_tokens": 4}}),
        json!({"type": "message_delta", "delta": null, "usage": {"output_tokens": 6}}),
        json!({"type": "message_stop"}),
        text(0, "too late"),
    ]);
    assert_eq!(
        summary(&decoded.events),
        [
            "message_start - asked-model",
            "text_delta Hi",
            "usage 2 6 0 0 0"
        ]
    );
    assert_eq!(decoded.outcome.unwrap().stop_reason, StopReason::EndTurn);
}

#[test]
fn every_reason_to_stop_has_a_name() {
    for (reason, expected) in [
        ("end_turn", StopReason::EndTurn),
        ("stop_sequence", StopReason::EndTurn),
        ("pause_turn", StopReason::EndTurn),
        ("tool_use", StopReason::ToolUse),
        ("max_tokens", StopReason::MaxTokens),
        ("model_context_window_exceeded", StopReason::MaxTokens),
        ("refusal", StopReason::ContentFilter),
        ("something_new", StopReason::EndTurn),
    ] {
        let response = decode(&stream(vec![text(0, "x")], reason)).outcome.unwrap();
        assert_eq!(response.stop_reason, expected, "{reason}");
    }
    // A service that does not say why.
    let silent = [
        message_start(),
        call(0, "a", "f"),
        json!({"type": "message_stop"}),
    ];
    let response = decode(&silent).outcome.unwrap();
    assert_eq!(response.stop_reason, StopReason::ToolUse);
}

#[test]
fn every_token_is_counted_once() {
    let decoded = decode(&[
        json!({"type": "message_start", "message": {"usage": {
            "input_tokens": 10, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 30,
            "output_tokens": 1}}}),
        text(0, "x"),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {
            "output_tokens": 50, "output_tokens_details": {"thinking_tokens": 40}}}),
        json!({"type": "message_stop"}),
    ]);
    let usage = decoded.outcome.unwrap().usage;
    assert_eq!(
        usage,
        Usage {
            input_tokens: 10,
            output_tokens: 10,
            cache_read_tokens: 30,
            cache_write_tokens: 20,
            reasoning_tokens: 40
        }
    );
    assert_eq!(
        summary(&decoded.events).last().unwrap(),
        "usage 10 10 30 20 40"
    );
}

#[test]
fn a_call_that_was_cut_says_so() {
    for (reason, mentions) in [("max_tokens", true), ("tool_use", false)] {
        let decoded = decode(&stream(
            vec![call(0, "a", "f"), arguments(0, "{\"x\": \"y"), stop(0)],
            reason,
        ));
        let error = decoded.outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::MalformedToolCall);
        assert_eq!(
            error.message().contains("raise max_tokens"),
            mentions,
            "{error}"
        );
        assert!(summary(&decoded.events).contains(&"usage 5 3 0 0 0".to_owned()));
    }
    let nameless = decode(&stream(vec![arguments(0, "{\"x\":1}")], "tool_use"));
    assert!(
        nameless
            .outcome
            .unwrap_err()
            .message()
            .contains("without naming it")
    );
}

#[test]
fn errors_in_the_stream_are_told_apart() {
    for (kind, message, retry, code) in [
        (
            "overloaded_error",
            "Overloaded",
            Retry::Backoff,
            Some("overloaded_error"),
        ),
        (
            "rate_limit_error",
            "Slow down",
            Retry::Backoff,
            Some("rate_limit_error"),
        ),
        (
            "api_error",
            "Internal server error",
            Retry::Backoff,
            Some("api_error"),
        ),
        (
            "timeout_error",
            "Timed out",
            Retry::Backoff,
            Some("timeout_error"),
        ),
        (
            "invalid_request_error",
            "messages: wrong",
            Retry::Never,
            None,
        ),
        (
            "authentication_error",
            "invalid x-api-key",
            Retry::Never,
            None,
        ),
    ] {
        let decoded = decode(&[
            message_start(),
            text(0, "so far"),
            json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "r"}),
        ]);
        assert_eq!(
            summary(&decoded.events).last().unwrap(),
            "text_delta so far"
        );
        let error = decoded.outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Provider);
        assert_eq!((error.retry(), error.code()), (retry, code), "{kind}");
        assert!(error.message().contains(message), "{error}");
    }
    let overflow = json!({"type": "error", "error": {"type": "invalid_request_error",
        "message": "prompt is too long: 208310 tokens > 200000 maximum"}});
    let error = decode(&[overflow]).outcome.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ContextWindowOverflow);
    let bare = decode(&[json!({"error": {"message": "gateway"}})]);
    assert!(bare.outcome.unwrap_err().message().contains("gateway"));
}

#[test]
fn an_answer_without_an_end_broke_off() {
    let mut frames = stream(vec![text(0, "Hel"), stop(0)], "end_turn");
    frames.truncate(frames.len() - 2);
    let error = decode(&frames).outcome.unwrap_err();
    assert_eq!(
        (error.kind(), error.retry()),
        (ErrorKind::Protocol, Retry::Backoff)
    );
    // Only the last event is missing: everything is known.
    frames.push(end("end_turn")[0].clone());
    assert!(decode(&frames).outcome.is_ok());
    for junk in ["{\"type\":", "[1]", "7"] {
        let error = decode(&[json!(junk)]).outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol, "{junk}");
    }
}

#[test]
fn a_whole_document_reads_like_a_stream() {
    let decoded = decode(&[json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
        "content": [
            {"type": "thinking", "thinking": "Hm", "signature": "s"},
            {"type": "text", "text": "Hi"},
            {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
        ],
        "stop_reason": "tool_use", "stop_sequence": null,
        "usage": {"input_tokens": 5, "output_tokens": 3},
    })]);
    assert_eq!(
        summary(&decoded.events),
        [
            "message_start msg_1 m",
            "reasoning_delta Hm",
            "text_delta Hi",
            "tool_call_start 2 a f",
            "tool_call_delta 2 {\"x\":1}",
            "tool_call_stop 2 a f {\"x\":1}",
            "usage 5 3 0 0 0",
        ]
    );
    let response = decoded.outcome.unwrap();
    assert_eq!(response.stop_reason, StopReason::ToolUse);
    assert_eq!(response.message.content.len(), 3);
}
