use serde_json::{Map, Value, json};

use super::{Quirks, ResponsesDecoder, render_request};
use crate::error::{Error, ErrorKind, Retry};
use crate::event::StreamEvent;
use crate::http::Frame;
use crate::message::{Content, Message, Role, ToolResult, ToolResultContent, ToolStatus};
use crate::message::{Usage, kind_of};
use crate::model::{ModelRequest, ModelResponse, OutputSchema, StopReason, ToolChoice};
use crate::protocol::Decoder;
use crate::protocol::testing::{check_order, summary};
use crate::tool::ToolDefinition;

struct Decoded {
    events: Vec<StreamEvent>,
    outcome: Result<ModelResponse, Error>,
}

/// Decodes events; the name goes into the frame as well, as real services do it.
fn decode(frames: &[Value]) -> Decoded {
    let mut decoder = ResponsesDecoder::new("asked-model");
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

fn created() -> Value {
    json!({"type": "response.created", "response": {"id": "r1", "model": "m", "output": []}})
}

fn completed(output: Value) -> Value {
    json!({"type": "response.completed", "response": {
        "id": "r1", "model": "m", "status": "completed", "output": output,
        "usage": {"input_tokens": 5, "output_tokens": 3},
    }})
}

fn text(index: u32, delta: &str) -> Value {
    json!({"type": "response.output_text.delta", "output_index": index, "item_id": format!("i{index}"),
        "delta": delta})
}

fn function_call(arguments: &str) -> Value {
    json!({"type": "function_call", "id": "fc_1", "call_id": "call_a", "name": "f",
        "arguments": arguments})
}

fn item(event: &str, index: u32, item: Value) -> Value {
    json!({"type": format!("response.output_item.{event}"), "output_index": index, "item": item})
}

#[test]
fn parts_of_a_summary_are_paragraphs() {
    let part = |event: &str, index: u32, text: &str| {
        json!({"type": format!("response.reasoning_summary_{event}"), "output_index": 0,
            "item_id": "rs_1", "summary_index": index, "delta": text})
    };
    let whole = json!({"type": "reasoning", "id": "rs_1", "summary": [
        {"type": "summary_text", "text": "**Looking**"}, {"type": "summary_text", "text": "**Found**"},
    ]});
    let streamed = decode(&[
        created(),
        item(
            "added",
            0,
            json!({"type": "reasoning", "id": "rs_1", "summary": []}),
        ),
        part("part.added", 0, ""),
        part("text.delta", 0, "**Look"),
        part("text.delta", 0, "ing**"),
        part("part.added", 1, ""),
        part("text.delta", 1, "**Found**"),
        item("done", 0, whole.clone()),
        completed(json!([])),
    ]);
    let at_once = decode(&[created(), completed(json!([whole]))]);
    for decoded in [streamed, at_once] {
        let message = decoded.outcome.unwrap().message;
        let Content::Reasoning(reasoning) = &message.content[0] else {
            panic!("{message:?}");
        };
        assert_eq!(reasoning.text, "**Looking**\n\n**Found**");
    }
}

#[test]
fn text_is_streamed_and_ends() {
    let decoded = decode(&[
        created(),
        json!({"type": "response.in_progress", "response": {"id": "r1"}}),
        item(
            "added",
            0,
            json!({"type": "message", "id": "i0", "content": []}),
        ),
        text(0, "Hel"),
        text(0, "lo"),
        json!({"type": "response.output_text.done", "output_index": 0, "text": "Hello"}),
        item(
            "done",
            0,
            json!({"type": "message", "id": "i0", "content": [
            {"type": "output_text", "text": "Hello"}]}),
        ),
        json!({"type": "response.something_new", "delta": {"a": 1}}),
        completed(json!([{"type": "message", "id": "i0", "content": [
            {"type": "output_text", "text": "Hello"}]}])),
        json!("[DONE]"),
    ]);
    assert_eq!(
        summary(&decoded.events),
        [
            "message_start r1 m",
            "text_delta Hel",
            "text_delta lo",
            "usage 5 3 0 0 0"
        ]
    );
    let response = decoded.outcome.unwrap();
    assert_eq!(*response.message.content, [Content::text("Hello")]);
    assert_eq!(response.stop_reason, StopReason::EndTurn);
    assert_eq!(json!(response.metadata), json!({"id": "r1", "model": "m"}));
}

#[test]
fn a_tool_call_stops_when_its_item_does() {
    let decoded = decode(&[
        created(),
        item("added", 1, function_call("")),
        json!({"type": "response.function_call_arguments.delta", "output_index": 1,
            "item_id": "fc_1", "delta": "{\"x\""}),
        json!({"type": "response.function_call_arguments.delta", "output_index": 1,
            "item_id": "fc_1", "delta": ":1}"}),
        json!({"type": "response.function_call_arguments.done", "output_index": 1,
            "item_id": "fc_1", "arguments": "{\"x\":1}"}),
        item("done", 1, function_call("{\"x\":1}")),
        completed(json!([])),
    ]);
    assert_eq!(
        summary(&decoded.events),
        [
            "message_start r1 m",
            "tool_call_start 1 call_a f",
            "tool_call_delta 1 {\"x\"",
            "tool_call_delta 1 :1}",
            "tool_call_stop 1 call_a f {\"x\":1}",
            "usage 5 3 0 0 0",
        ]
    );
    assert_eq!(decoded.outcome.unwrap().stop_reason, StopReason::ToolUse);
}

#[test]
fn what_was_not_streamed_is_taken_from_the_end() {
    let whole = json!([
        {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "Hm"}]},
        {"type": "message", "id": "ms", "content": [{"type": "output_text", "text": "Hi"}]},
        function_call("{\"x\":1}"),
    ]);
    let expected = [
        "message_start r1 m",
        "reasoning_delta Hm",
        "text_delta Hi",
        "tool_call_start 2 call_a f",
        "tool_call_delta 2 {\"x\":1}",
        "tool_call_stop 2 call_a f {\"x\":1}",
        "usage 5 3 0 0 0",
    ];
    // Items only at the end, items only when done, and a service that does not stream at all.
    let only_end = vec![created(), completed(whole.clone())];
    let mut only_done = vec![created()];
    for (index, value) in whole.as_array().unwrap().iter().enumerate() {
        only_done.push(item("done", u32::try_from(index).unwrap(), value.clone()));
    }
    only_done.push(completed(whole.clone()));
    let document = json!({"id": "r1", "model": "m", "object": "response", "status": "completed",
        "output": whole, "usage": {"input_tokens": 5, "output_tokens": 3}});
    for frames in [only_end, only_done, vec![document]] {
        let decoded = decode(&frames);
        assert_eq!(summary(&decoded.events), expected);
        let kinds: Vec<Value> = decoded
            .outcome
            .unwrap()
            .message
            .content
            .iter()
            .map(|block| block.to_value()["type"].clone())
            .collect();
        assert_eq!(kinds, ["reasoning", "text", "tool_use"]);
    }
}

#[test]
fn missing_positions_and_ids_are_survived() {
    let decoded = decode(&[
        json!({"type": "response.output_item.added", "item": function_call("")}),
        json!({"type": "response.function_call_arguments.delta", "delta": "{}"}),
        json!({"type": "response.output_item.done", "item": {"type": "function_call",
            "id": "fc_1", "name": "f", "arguments": "{}"}}),
        json!({"type": "response.completed"}),
    ]);
    assert_eq!(
        summary(&decoded.events),
        [
            "message_start - asked-model",
            "tool_call_start 0 call_a f",
            "tool_call_delta 0 {}",
            "tool_call_stop 0 call_a f {}",
        ]
    );
}

#[test]
fn what_follows_a_finished_call_changes_nothing() {
    let delta =
        json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{}"});
    let stop = item("done", 0, function_call("{\"a\":1}"));
    let decoded = decode(&[created(), stop.clone(), delta, stop, completed(json!([]))]);
    let uses: Vec<_> = decoded
        .outcome
        .unwrap()
        .message
        .tool_uses()
        .cloned()
        .collect();
    assert_eq!(uses.len(), 1);
    assert_eq!(Value::Object(uses[0].input.clone()), json!({"a": 1}));
    let deltas = decoded
        .events
        .iter()
        .filter(|event| event.kind() == "tool_call_delta");
    assert_eq!(deltas.count(), 1);
}

#[test]
fn items_that_share_a_position_are_told_apart_by_their_ids() {
    let call = |id: &str, arguments: &str| {
        json!({"type": "function_call", "id": id, "call_id": format!("call_{id}"), "name": "f",
            "arguments": arguments})
    };
    let frames = [
        created(),
        item("added", 0, call("a", "")),
        item("done", 0, call("a", "{\"n\":1}")),
        item("added", 0, call("b", "")),
        item("done", 0, call("b", "{\"n\":2}")),
        completed(json!([call("a", "{\"n\":1}"), call("b", "{\"n\":2}")])),
    ];
    let decoded = decode(&frames);
    let response = decoded.outcome.unwrap();
    let ids: Vec<&str> = response
        .message
        .tool_uses()
        .map(|call| call.id.as_str())
        .collect();
    assert_eq!(ids, ["call_a", "call_b"]);
}

#[test]
fn an_item_of_text_and_a_call_is_both() {
    let frames = [
        created(),
        text(0, "Hm."),
        item("done", 0, function_call("{}")),
        completed(json!([])),
    ];
    let response = decode(&frames).outcome.unwrap();
    assert_eq!(response.message.text(), "Hm.");
    assert_eq!(response.message.tool_uses().count(), 1);
}

#[test]
fn final_arguments_win_and_bad_ones_are_refused() {
    let stream = |streamed: &str, done: &str| {
        decode(&[
            created(),
            item("added", 0, function_call("")),
            json!({"type": "response.function_call_arguments.delta", "output_index": 0,
                "delta": streamed}),
            item("done", 0, function_call(done)),
            completed(json!([])),
        ])
    };
    let decoded = stream("{\"x\":", "{\"x\":1}");
    assert_eq!(summary(&decoded.events)[3], "tool_call_delta 0 1}");
    for (streamed, done) in [("[1]", "[1]"), ("{", "{"), ("nope", "")] {
        let error = stream(streamed, done).outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::MalformedToolCall);
        assert!(error.message().contains("\"f\""), "{error}");
    }
}

#[test]
fn ends_are_mapped() {
    let incomplete = |reason: &str| {
        json!({"type": "response.incomplete", "response": {"status": "incomplete",
            "incomplete_details": {"reason": reason}}})
    };
    for (end, expected) in [
        (incomplete("max_output_tokens"), StopReason::MaxTokens),
        (incomplete("content_filter"), StopReason::ContentFilter),
        (
            json!({"type": "response.incomplete"}),
            StopReason::MaxTokens,
        ),
        (completed(json!([])), StopReason::EndTurn),
    ] {
        let decoded = decode(&[created(), text(0, "x"), end]);
        assert_eq!(decoded.outcome.unwrap().stop_reason, expected);
    }
    let refused = decode(&[
        created(),
        json!({"type": "response.refusal.delta", "output_index": 0, "delta": "No."}),
        completed(json!([])),
    ]);
    assert_eq!(summary(&refused.events)[1], "text_delta No.");
    let response = refused.outcome.unwrap();
    assert_eq!(response.stop_reason, StopReason::ContentFilter);
    let error = decode(&[created(), text(0, "x")]).outcome.unwrap_err();
    assert_eq!(
        (error.kind(), error.retry()),
        (ErrorKind::Protocol, Retry::Backoff)
    );
}

#[test]
fn failures_are_errors() {
    for (frame, kind, retry) in [
        (
            json!({"type": "response.failed", "response": {"error":
                {"code": "server_error", "message": "sorry"}}}),
            ErrorKind::Provider,
            Retry::Backoff,
        ),
        (
            json!({"type": "response.failed", "response": {"error": null}}),
            ErrorKind::Provider,
            Retry::Never,
        ),
        (
            json!({"type": "error", "code": "rate_limit_exceeded", "message": "slow down"}),
            ErrorKind::Provider,
            Retry::Backoff,
        ),
        (
            json!({"type": "error", "error": {"code": "context_length_exceeded"}}),
            ErrorKind::ContextWindowOverflow,
            Retry::Never,
        ),
        (
            json!({"error": {"message": "no"}}),
            ErrorKind::Provider,
            Retry::Never,
        ),
        (json!("{"), ErrorKind::Protocol, Retry::Never),
    ] {
        let error = decode(&[created(), frame.clone()]).outcome.unwrap_err();
        assert_eq!(
            (error.kind(), error.retry()),
            (kind, retry),
            "{frame} {}",
            kind_of(&frame)
        );
    }
}

#[test]
fn every_token_is_counted_once() {
    let mut end = completed(json!([]));
    end["response"]["usage"] = json!({"input_tokens": 100, "output_tokens": 50,
        "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 10},
        "output_tokens_details": {"reasoning_tokens": 20}});
    let usage = decode(&[created(), end]).outcome.unwrap().usage;
    let expected = Usage {
        input_tokens: 30,
        output_tokens: 30,
        cache_read_tokens: 60,
        cache_write_tokens: 10,
        reasoning_tokens: 20,
    };
    assert_eq!(usage, expected);
}

#[test]
fn encrypted_reasoning_returns_before_its_call() {
    let thought = json!({"type": "reasoning", "id": "rs", "summary": [],
        "encrypted_content": "gAAAA=="});
    let bare = json!({"type": "reasoning", "id": "rs2", "summary": []});
    let decoded = decode(&[
        created(),
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "Hm"}),
        item("done", 0, thought.clone()),
        item("done", 1, bare),
        item("done", 2, function_call("{}")),
        completed(json!([])),
    ]);
    let message = decoded.outcome.unwrap().message;
    assert_eq!(message.content.len(), 2);
    let restored = Message::from_value(&message.to_value()).unwrap();
    let request = ModelRequest {
        messages: vec![restored].into(),
        ..ModelRequest::default()
    };
    let body = render_request("m", &request, Quirks::default()).unwrap();
    assert_eq!(
        body["input"],
        json!([thought, {"type": "function_call", "call_id": "call_a", "name": "f",
            "arguments": "{}"}])
    );
    // Reasoning that nothing came of would be refused.
    let alone = ModelRequest {
        messages: vec![Message::new(Role::Assistant, message.content[..1].to_vec())].into(),
        ..ModelRequest::default()
    };
    let body = render_request("m", &alone, Quirks::default()).unwrap();
    assert_eq!(body["input"], json!([]));
}

#[test]
fn requests_are_rendered_byte_for_byte() {
    let definition = ToolDefinition::new("weather", "Tells.", json!({"type": "object"})).unwrap();
    let result = ToolResult {
        tool_use_id: "call_a".into(),
        content: ToolResultContent::Blocks(vec![Content::text("Su"), Content::text("nny")]),
        status: ToolStatus::Error,
    };
    let request = ModelRequest {
        messages: vec![
            Message::system("Be brief."),
            Message::new(
                Role::User,
                vec![
                    Content::text("And this?"),
                    Content::image(&b"\x89PNG"[..], "image/png"),
                    Content::document(&b"%PDF"[..], "application/pdf", "a.pdf"),
                    Content::document(&b"https://a.test/b.pdf"[..], "application/pdf", "b.pdf"),
                ],
            ),
            Message::assistant("Fine."),
            Message::new(
                Role::Assistant,
                vec![
                    Content::from_value(&json!({"type": "tool_use", "id": "call_a",
                    "name": "weather", "input": {"city": "Bern"}}))
                    .unwrap(),
                ],
            ),
            Message::new(Role::Tool, vec![Content::ToolResult(result)]),
        ]
        .into(),
        tools: vec![definition].into(),
        settings: json!({"max_tokens": 64, "max_completion_tokens": 32, "reasoning_effort": "low",
            "top_p": 0.5, "user": "u", "unknown": 1, "extra_body": {"store": false}})
        .as_object()
        .unwrap()
        .clone(),
        output_schema: Some(OutputSchema {
            name: "answer".into(),
            description: None,
            schema: json!({"type": "object"}),
        }),
        tool_choice: Some(ToolChoice::Required),
        ..ModelRequest::default()
    };
    let body = Value::Object(render_request("m-1", &request, Quirks::default()).unwrap());
    let expected = [
        r#"{"model":"m-1","stream":true,"input":["#,
        r#"{"role":"system","content":[{"type":"input_text","text":"Be brief."}]},"#,
        r#"{"role":"user","content":[{"type":"input_text","text":"And this?"},"#,
        r#"{"type":"input_image","image_url":"data:image/png;base64,iVBORw==","detail":"auto"},"#,
        r#"{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERg=="},"#,
        r#"{"type":"input_file","file_url":"https://a.test/b.pdf"}]},"#,
        r#"{"role":"assistant","content":"Fine."},"#,
        r#"{"type":"function_call","call_id":"call_a","name":"weather","arguments":"{\"city\":\"Bern\"}"},"#,
        r#"{"type":"function_call_output","call_id":"call_a","output":"Sunny"}],"#,
        r#""tools":[{"type":"function","name":"weather","description":"Tells.","parameters":{"type":"object","properties":{}},"strict":false}],"#,
        r#""tool_choice":"required","#,
        r#""text":{"format":{"type":"json_schema","name":"answer","schema":{"type":"object","properties":{}},"strict":false}},"#,
        r#""max_output_tokens":32,"top_p":0.5,"user":"u","reasoning":{"effort":"low"},"store":false}"#,
    ]
    .concat();
    assert_eq!(body.to_string(), expected);
}

#[test]
fn encrypted_reasoning_is_asked_for_only_where_it_exists() {
    let quirks = Quirks {
        encrypted_reasoning: true,
    };
    let include = |settings: Value| {
        let request = ModelRequest {
            settings: settings.as_object().cloned().unwrap_or_else(Map::new),
            ..ModelRequest::default()
        };
        let body = render_request("m", &request, quirks).unwrap();
        body.get("include").cloned()
    };
    let asked = Some(json!(["reasoning.encrypted_content"]));
    assert_eq!(include(json!({"reasoning_effort": "high"})), asked);
    assert_eq!(include(json!({"reasoning_effort": "none"})), None);
    assert_eq!(include(json!({})), None);
}
