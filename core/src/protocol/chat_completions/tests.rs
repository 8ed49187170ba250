use serde_json::{Value, json};

use super::{CacheMarker, ChatDecoder, Quirks, ReasoningField, render_request};
use crate::error::{Error, ErrorKind, Retry};
use crate::event::StreamEvent;
use crate::http::Frame;
use crate::message::{Content, Message, Reasoning, Role, ToolResult, ToolResultContent};
use crate::message::{ToolStatus, ToolUse, Usage};
use crate::model::{ModelRequest, ModelResponse, OutputSchema, StopReason, ToolChoice};
use crate::protocol::testing::{check_order, summary};
use crate::protocol::{Decoder, Progress};
use crate::tool::ToolDefinition;

/// Id, name and input of a call.
type Use = (String, String, Value);

struct Decoded {
    events: Vec<StreamEvent>,
    outcome: Result<ModelResponse, Error>,
}

fn decode_raw(frames: &[&str]) -> Decoded {
    let mut decoder = ChatDecoder::new("asked-model");
    let mut events = Vec::new();
    let mut run = || {
        for data in frames {
            let frame = Frame {
                event: b"",
                data: data.as_bytes(),
            };
            decoder.push(frame, &mut events)?;
        }
        decoder.finish(&mut events)
    };
    let outcome = run();
    check_order(&events);
    Decoded { events, outcome }
}

fn decode(chunks: &[Value]) -> Decoded {
    let texts: Vec<String> = chunks.iter().map(Value::to_string).collect();
    let frames: Vec<&str> = texts.iter().map(String::as_str).collect();
    decode_raw(&frames)
}

fn delta(delta: Value) -> Value {
    json!({"id": "c1", "model": "m", "choices": [{"index": 0, "delta": delta}]})
}

fn finish(reason: &str) -> Value {
    json!({"id": "c1", "model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn call(index: Value, id: Value, name: Value, arguments: &str) -> Value {
    let mut entry = json!({"function": {"arguments": arguments}});
    for (key, value) in [("index", index), ("id", id)] {
        if value != json!("absent") {
            entry[key] = value;
        }
    }
    if !name.is_null() {
        entry["function"]["name"] = name;
    }
    delta(json!({"tool_calls": [entry]}))
}

fn uses(decoded: &Decoded) -> Vec<Use> {
    let response = decoded.outcome.as_ref().unwrap();
    response
        .message
        .tool_uses()
        .map(|used| (used.id.clone(), used.name.clone(), json!(used.input)))
        .collect()
}

fn error_of(decoded: Decoded) -> Error {
    decoded.outcome.unwrap_err()
}

#[test]
fn tool_calls_are_told_apart_whatever_the_index() {
    let absent = || json!("absent");
    let none = || Value::Null;
    let a = json!("call_a");
    let b = json!("call_b");
    let two = vec![
        ("call_a".into(), "f".into(), json!({"x": 1})),
        ("call_b".into(), "g".into(), json!({"y": 2})),
    ];
    let one = vec![("call_a".into(), "f".into(), json!({"x": 1}))];
    let cases: Vec<(&str, Vec<Value>, &Vec<Use>)> = vec![
        (
            "constant index, two ids",
            vec![
                call(json!(0), a.clone(), json!("f"), r#"{"x":1}"#),
                call(json!(0), b.clone(), json!("g"), r#"{"y":2}"#),
            ],
            &two,
        ),
        (
            "no index",
            vec![
                call(absent(), a.clone(), json!("f"), ""),
                call(absent(), absent(), none(), r#"{"x""#),
                call(absent(), absent(), none(), ":1}"),
                call(absent(), b.clone(), json!("g"), r#"{"y":"#),
                call(absent(), absent(), none(), "2}"),
            ],
            &two,
        ),
        (
            "null index and empty ids",
            vec![
                call(none(), a.clone(), json!("f"), r#"{"x":"#),
                call(none(), json!(""), json!(""), "1}"),
                call(none(), b.clone(), json!("g"), r#"{"y":2}"#),
            ],
            &two,
        ),
        (
            "index and id on every delta",
            vec![
                call(json!(0), a.clone(), json!("f"), r#"{"x""#),
                call(json!(0), a.clone(), json!("f"), ":"),
                call(json!(0), a.clone(), none(), "1}"),
            ],
            &one,
        ),
        (
            "a fragment on a strange index",
            vec![
                call(json!(0), a.clone(), json!("f"), r#"{"x":"#),
                call(json!(1), absent(), none(), "1}"),
            ],
            &one,
        ),
        (
            "the same id on a drifting index",
            vec![
                call(json!(0), a.clone(), json!("f"), r#"{"x":"#),
                call(json!(1), a.clone(), none(), "1}"),
            ],
            &one,
        ),
        (
            "interleaved fragments",
            vec![
                call(json!(0), a.clone(), json!("f"), r#"{"x""#),
                call(json!(1), b.clone(), json!("g"), r#"{"y""#),
                call(json!(0), absent(), none(), ":1}"),
                call(json!(1), absent(), none(), ":2}"),
            ],
            &two,
        ),
        (
            "indices from one, as text",
            vec![
                call(json!("1"), a.clone(), json!("f"), r#"{"x":1}"#),
                call(json!("2"), b.clone(), json!("g"), r#"{"y":2}"#),
            ],
            &two,
        ),
        (
            "a new id for each fragment",
            vec![
                call(json!(0), a.clone(), json!("f"), r#"{"x":"#),
                call(json!(0), json!("call_z"), none(), "1}"),
            ],
            &one,
        ),
        (
            "name and arguments before the id",
            vec![
                call(json!(0), absent(), json!("f"), r#"{"x":"#),
                call(json!(0), a.clone(), none(), "1}"),
            ],
            &one,
        ),
        (
            "out of order",
            vec![
                call(json!(1), b.clone(), json!("g"), r#"{"y":2}"#),
                call(json!(0), a.clone(), json!("f"), r#"{"x":1}"#),
            ],
            &two,
        ),
    ];
    for (what, mut chunks, expected) in cases {
        chunks.push(finish("tool_calls"));
        let decoded = decode(&chunks);
        assert_eq!(&uses(&decoded), expected, "{what}");
        let response = decoded.outcome.unwrap();
        assert_eq!(response.stop_reason, StopReason::ToolUse, "{what}");
    }
}

#[test]
fn arguments_may_be_an_object_or_empty() {
    let chunk = delta(json!({"tool_calls": [
        {"index": 0, "id": "a", "function": {"name": "f", "arguments": {"x": [1]}}},
        {"index": 1, "id": "b", "function": {"name": "g", "arguments": null}},
        {"index": 2, "id": "c", "function": {"name": "h"}},
    ]}));
    let decoded = decode(&[chunk, finish("stop")]);
    let inputs: Vec<Value> = uses(&decoded).into_iter().map(|used| used.2).collect();
    assert_eq!(inputs, [json!({"x": [1]}), json!({}), json!({})]);
    assert_eq!(decoded.outcome.unwrap().stop_reason, StopReason::ToolUse);
}

#[test]
fn events_of_a_tool_turn_come_in_order() {
    let decoded = decode(&[
        delta(json!({"role": "assistant", "content": "Let me see."})),
        call(json!(0), json!("call_a"), json!("f"), r#"{"x":"#),
        call(json!(0), Value::Null, Value::Null, "1}"),
        finish("tool_calls"),
        json!({"id": "c1", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}),
    ]);
    assert_eq!(
        summary(&decoded.events),
        [
            "message_start c1 m",
            "text_delta Let me see.",
            "tool_call_start 0 call_a f",
            "tool_call_delta 0 {\"x\":",
            "tool_call_delta 0 1}",
            "usage 3 2 0 0 0",
            "tool_call_stop 0 call_a f {\"x\":1}",
        ]
    );
    let response = decoded.outcome.unwrap();
    assert_eq!(response.message.text(), "Let me see.");
    assert_eq!(json!(response.metadata), json!({"id": "c1", "model": "m"}));
}

#[test]
fn malformed_calls_are_refused_briefly() {
    let huge = format!("[{}", "1,".repeat(5_000));
    for (id, name, arguments, says) in [
        ("a", "f", "[1]", "must be a JSON object, not an array"),
        ("a", "f", "\"x\"", "must be a JSON object, not a string"),
        ("a", "f", "{\"x\":", "are not valid JSON"),
        ("a", "f", &huge, "are not valid JSON"),
        ("", "f", "{}", "tool \"f\" has no id"),
        ("a", "", "{}", "without naming it"),
    ] {
        let chunk = call(json!(0), json!(id), json!(name), arguments);
        let error = error_of(decode(&[chunk, finish("tool_calls")]));
        assert_eq!(error.kind(), ErrorKind::MalformedToolCall, "{arguments}");
        assert_eq!(error.retry(), Retry::Never);
        assert!(error.message().contains(says), "{error}");
        assert!(error.message().len() < 400, "{error}");
    }
    let cut = call(json!(0), json!("a"), json!("f"), "{\"x\":");
    let error = error_of(decode(&[cut, finish("length")]));
    assert!(error.message().contains("max_tokens"), "{error}");
}

#[test]
fn odd_chunks_do_no_harm() {
    let usage = json!({"prompt_tokens": 5, "completion_tokens": 1});
    let decoded = decode(&[
        json!({"id": "", "model": "", "choices": [], "prompt_filter_results": []}),
        json!({"id": "c1", "model": "m", "choices": [{"index": 0, "delta": null}]}),
        delta(json!({"role": "assistant", "content": null, "tool_calls": null})),
        delta(json!({"content": ""})),
        delta(json!({"content": [{"type": "text", "text": "a"}, {"type": "x"}]})),
        json!({"id": "c1", "choices": null, "usage": null}),
        json!({"type": "surprise", "object": "ping"}),
        json!({"id": "c1", "choices": [{"delta": {"content": "b"}, "finish_reason": "stop",
            "logprobs": null}], "usage": usage}),
        json!({"id": "c1", "choices": [], "usage": usage}),
    ]);
    assert_eq!(
        summary(&decoded.events),
        [
            "message_start c1 m",
            "text_delta a",
            "text_delta b",
            "usage 5 1 0 0 0"
        ]
    );
    let response = decoded.outcome.unwrap();
    assert_eq!(response.message.text(), "ab");
    assert_eq!(response.usage.total_tokens(), 6);
    assert_eq!(response.stop_reason, StopReason::EndTurn);
}

#[test]
fn a_repeated_key_is_tolerated() {
    let chunk =
        r#"{"id":"c1","id":"c1","choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}"#;
    let decoded = decode_raw(&[chunk, "[DONE]"]);
    assert_eq!(decoded.outcome.unwrap().message.text(), "hi");
}

#[test]
fn a_character_cut_in_two_is_tolerated() {
    let data = b"{\"id\":\"c1\",\"choices\":[{\"delta\":{\"content\":\"a\xC3\"}}]}";
    let mut decoder = ChatDecoder::new("m");
    let mut events = Vec::new();
    decoder
        .push(Frame { event: b"", data }, &mut events)
        .unwrap();
    assert_eq!(summary(&events)[1], "text_delta a\u{fffd}");
}

#[test]
fn an_answer_that_is_not_streamed_is_understood() {
    let whole = json!({"id": "c1", "model": "m", "object": "chat.completion", "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}},
    ], "usage": {"prompt_tokens": 1, "completion_tokens": 1}});
    let decoded = decode(&[whole]);
    assert_eq!(
        summary(&decoded.events),
        ["message_start c1 m", "text_delta hi", "usage 1 1 0 0 0"]
    );
}

#[test]
fn the_end_needs_a_mark() {
    let text = delta(json!({"content": "half"})).to_string();
    for frames in [vec![], vec![text.as_str()]] {
        let error = error_of(decode_raw(&frames));
        assert_eq!(error.kind(), ErrorKind::Protocol);
        assert_eq!(error.retry(), Retry::Backoff);
    }
    assert!(decode_raw(&[&text, "[DONE]"]).outcome.is_ok());
    assert!(
        decode(&[delta(json!({"content": "x"})), finish("stop")])
            .outcome
            .is_ok()
    );
    let mut decoder = ChatDecoder::new("m");
    assert_eq!(decoder.progress(), Progress::Open);
    let done = Frame {
        event: b"",
        data: b" [DONE] ",
    };
    decoder.push(done, &mut Vec::new()).unwrap();
    assert_eq!(decoder.progress(), Progress::Done);
}

#[test]
fn nonsense_is_a_protocol_error() {
    for data in [
        "{",
        "error: boom",
        "[1,2]",
        "\"text\"",
        r#"{"choices":[{"delta":7}]}"#,
    ] {
        let error = error_of(decode_raw(&[data]));
        assert_eq!(error.kind(), ErrorKind::Protocol, "{data}");
        assert_eq!(error.retry(), Retry::Never, "{data}");
    }
}

#[test]
fn stop_reasons_are_mapped() {
    for (reason, expected) in [
        ("stop", StopReason::EndTurn),
        ("tool_calls", StopReason::ToolUse),
        ("function_call", StopReason::ToolUse),
        ("length", StopReason::MaxTokens),
        ("max_tokens", StopReason::MaxTokens),
        ("incomplete", StopReason::MaxTokens),
        ("content_filter", StopReason::ContentFilter),
        ("eos", StopReason::EndTurn),
    ] {
        let decoded = decode(&[delta(json!({"content": "x"})), finish(reason)]);
        assert_eq!(decoded.outcome.unwrap().stop_reason, expected, "{reason}");
    }
    let refused = decode(&[delta(json!({"refusal": "I must not."})), finish("stop")]);
    assert_eq!(summary(&refused.events)[1], "text_delta I must not.");
    let response = refused.outcome.unwrap();
    assert_eq!(response.stop_reason, StopReason::ContentFilter);
    assert_eq!(response.message.text(), "I must not.");
}

#[test]
fn errors_in_the_stream_are_classified() {
    for (error, kind, retry, code) in [
        (
            json!({"message": "down", "code": 502}),
            ErrorKind::Provider,
            Retry::Backoff,
            Some("502"),
        ),
        (
            json!({"message": "slow", "code": "429"}),
            ErrorKind::Provider,
            Retry::Backoff,
            Some("429"),
        ),
        (
            json!({"code": 400, "message": "bad"}),
            ErrorKind::Provider,
            Retry::Never,
            Some("400"),
        ),
        (
            json!({"code": "server_error"}),
            ErrorKind::Provider,
            Retry::Backoff,
            Some("server_error"),
        ),
        (
            json!({"code": "secret-ish"}),
            ErrorKind::Provider,
            Retry::Never,
            None,
        ),
        (
            json!({"code": 200, "metadata": {"error_type": "provider_overloaded"}}),
            ErrorKind::Provider,
            Retry::Backoff,
            Some("200"),
        ),
        (
            json!({"type": "timeout"}),
            ErrorKind::Provider,
            Retry::Backoff,
            Some("timeout"),
        ),
        (json!("boom"), ErrorKind::Provider, Retry::Never, None),
        (json!({}), ErrorKind::Provider, Retry::Never, None),
        (
            json!({"message": "This model's Maximum Context Length is 5"}),
            ErrorKind::ContextWindowOverflow,
            Retry::Never,
            None,
        ),
        (
            json!({"code": "context_length_exceeded", "message": "too long"}),
            ErrorKind::ContextWindowOverflow,
            Retry::Never,
            None,
        ),
    ] {
        let decoded = decode(&[delta(json!({"content": "x"})), json!({"error": error})]);
        assert_eq!(summary(&decoded.events).len(), 2, "{error}");
        let failure = error_of(decoded);
        assert_eq!(failure.kind(), kind, "{error}");
        assert_eq!(failure.retry(), retry, "{error}");
        assert_eq!(failure.code(), code, "{error}");
    }
    let stopped = error_of(decode(&[finish("error")]));
    assert_eq!(stopped.retry(), Retry::Backoff);
}

#[test]
fn every_token_is_counted_once() {
    for (usage, expected) in [
        (
            json!({"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150,
                "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 10},
                "completion_tokens_details": {"reasoning_tokens": 20}}),
            [30, 30, 60, 10, 20],
        ),
        (
            json!({"prompt_tokens": 9, "completion_tokens": 4, "cache_read_input_tokens": 5,
                "cache_creation_input_tokens": 1, "reasoning_tokens": 3}),
            [3, 1, 5, 1, 3],
        ),
        // Reasoning beside the completion, as the total shows.
        (
            json!({"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 34,
                "completion_tokens_details": {"reasoning_tokens": 20}}),
            [10, 4, 0, 0, 20],
        ),
        (
            json!({"prompt_tokens": 1, "completion_tokens": 1,
                "prompt_tokens_details": {"cached_tokens": 7},
                "completion_tokens_details": {"reasoning_tokens": 7}}),
            [0, 0, 7, 0, 7],
        ),
        (
            json!({"prompt_tokens": null, "completion_tokens": "x"}),
            [0; 5],
        ),
    ] {
        let chunk = json!({"id": "c1", "choices": [], "usage": usage});
        let earlier = json!({"id": "c1", "choices": [], "usage": {"prompt_tokens": 99}});
        let decoded = decode(&[delta(json!({})), earlier, finish("stop"), chunk]);
        let events = summary(&decoded.events);
        let reported = events.iter().filter(|event| event.starts_with("usage"));
        assert_eq!(reported.count(), 1, "{usage}");
        let counted = decoded.outcome.unwrap().usage;
        let [input, output, read, write, reasoning] = expected;
        let expected = Usage {
            input_tokens: input,
            output_tokens: output,
            cache_read_tokens: read,
            cache_write_tokens: write,
            reasoning_tokens: reasoning,
        };
        assert_eq!(counted, expected, "{usage}");
    }
}

#[test]
fn reasoning_is_kept_and_its_pieces_are_merged() {
    let decoded = decode(&[
        delta(
            json!({"reasoning": "Hm", "reasoning_content": "Hm", "reasoning_details": [
            {"type": "reasoning.text", "index": 0, "text": "Hm"}]}),
        ),
        delta(json!({"reasoning": ".", "reasoning_details": [
            {"type": "reasoning.text", "index": 0, "text": ".", "signature": "sig=="}]})),
        delta(json!({"reasoning_details": [
            {"type": "reasoning.text", "index": 0, "signature": null},
            {"type": "reasoning.encrypted", "index": 1, "data": "x"}]})),
        delta(json!({"content": "Yes"})),
        finish("stop"),
    ]);
    let response = decoded.outcome.unwrap();
    let Content::Reasoning(reasoning) = &response.message.content[0] else {
        panic!("{:?}", response.message);
    };
    assert_eq!(reasoning.text, "Hm.");
    assert_eq!(
        json!(reasoning.details),
        json!([
            {"type": "reasoning.text", "index": 0, "text": "Hm.", "signature": "sig=="},
            {"type": "reasoning.encrypted", "index": 1, "data": "x"},
        ])
    );
    assert_eq!(response.message.text(), "Yes");
}

fn weather() -> ToolDefinition {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    ToolDefinition::new("weather", "Tells the weather.", schema).unwrap()
}

fn conversation() -> Vec<Message> {
    let call = ToolUse {
        id: "call_a".into(),
        name: "weather".into(),
        input: serde_json::Map::from_iter([("city".to_owned(), json!("Bern"))]),
    };
    let result = ToolResult {
        tool_use_id: "call_a".into(),
        content: ToolResultContent::Text("Sunny".into()),
        status: ToolStatus::Success,
    };
    let thought = Reasoning {
        text: "Look it up.".into(),
        details: Some(vec![
            json!({"type": "reasoning.text", "text": "Look it up."}),
        ]),
        ..Reasoning::default()
    };
    vec![
        Message::system("Be brief."),
        Message::user("Weather?"),
        Message::new(
            Role::Assistant,
            vec![Content::Reasoning(thought), Content::ToolUse(call)],
        ),
        Message::new(Role::Tool, vec![Content::ToolResult(result)]),
        Message::new(Role::Assistant, Vec::new()),
        Message::new(
            Role::User,
            vec![
                Content::text("And this?"),
                Content::image(&b"\x89PNG"[..], "image/png"),
                Content::image(&b"https://a.test/i.png"[..], "image/png"),
                Content::document(&b"%PDF"[..], "application/pdf", "a.pdf"),
            ],
        ),
    ]
}

#[test]
fn requests_are_rendered_byte_for_byte() {
    let request = ModelRequest {
        messages: conversation().into(),
        tools: vec![weather(), weather().strict(true)].into(),
        settings: json!({
            "reasoning_effort": "low", "max_tokens": 64, "temperature": 0.5, "seed": null,
            "stop": ["x"], "top_k": 3, "parallel_tool_calls": false, "session_id": "s",
            "extra_body": {"logprobs": true, "temperature": 0.25},
        })
        .as_object()
        .unwrap()
        .clone(),
        output_schema: Some(OutputSchema {
            name: "answer".into(),
            description: Some("The answer.".into()),
            schema: json!({"type": "object"}),
        }),
        tool_choice: Some(ToolChoice::Named("weather".into())),
        ..ModelRequest::default()
    };
    let body = Value::Object(render_request("m-1", &request, Quirks::default()).unwrap());
    let strict = r#""name":"weather","description":"Tells the weather.","parameters":{"type":"object","properties":{"city":{"type":["string","null"]}},"required":["city"],"additionalProperties":false}"#;
    let function = r#""name":"weather","description":"Tells the weather.","parameters":{"type":"object","properties":{"city":{"type":"string"}}}"#;
    let expected = [
        r#"{"model":"m-1","stream":true,"stream_options":{"include_usage":true},"messages":["#,
        r#"{"role":"system","content":[{"type":"text","text":"Be brief."}]},"#,
        r#"{"role":"user","content":[{"type":"text","text":"Weather?"}]},"#,
        r#"{"role":"assistant","tool_calls":[{"id":"call_a","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Bern\"}"}}]},"#,
        r#"{"role":"tool","tool_call_id":"call_a","content":"Sunny"},"#,
        r#"{"role":"user","content":[{"type":"text","text":"And this?"},"#,
        r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw=="}},"#,
        r#"{"type":"image_url","image_url":{"url":"https://a.test/i.png"}},"#,
        r#"{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERg=="}}]}],"#,
        &format!(r#""tools":[{{"type":"function","function":{{{function}}}}},"#),
        &format!(r#"{{"type":"function","function":{{{strict},"strict":true}}}}],"#),
        r#""tool_choice":{"type":"function","function":{"name":"weather"}},"parallel_tool_calls":false,"#,
        r#""response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object","properties":{}},"strict":false,"description":"The answer."}},"#,
        r#""max_tokens":64,"temperature":0.25,"stop":["x"],"reasoning_effort":"low","logprobs":true}"#,
    ]
    .concat();
    assert_eq!(body.to_string(), expected);
}

#[test]
fn without_tools_nothing_speaks_of_tools() {
    let request = ModelRequest {
        tool_choice: Some(ToolChoice::Required),
        settings: serde_json::Map::from_iter([("parallel_tool_calls".to_owned(), json!(true))]),
        ..ModelRequest::default()
    };
    let body = render_request("m", &request, Quirks::default()).unwrap();
    let keys: Vec<&String> = body.keys().collect();
    assert_eq!(keys, ["model", "stream", "stream_options", "messages"]);
}

#[test]
fn quirks_change_reasoning_and_caching() {
    let settings = json!({"reasoning_effort": "high"});
    let request = ModelRequest {
        messages: conversation().into(),
        settings: settings.as_object().unwrap().clone(),
        ..ModelRequest::default()
    };
    let quirks = Quirks {
        reasoning: ReasoningField::Object,
        replay_reasoning: true,
        cache: CacheMarker::Instructions,
    };
    let body = Value::Object(render_request("m", &request, quirks).unwrap());
    assert_eq!(body["reasoning"], json!({"effort": "high"}));
    assert_eq!(body.get("reasoning_effort"), None);
    let marker = json!({"type": "ephemeral"});
    assert_eq!(body["messages"][0]["content"][0]["cache_control"], marker);
    assert_eq!(body["messages"][2]["reasoning"], "Look it up.");
    assert_eq!(
        body["messages"][2]["reasoning_details"],
        json!([{"type": "reasoning.text", "text": "Look it up."}])
    );
    let whole = Quirks {
        cache: CacheMarker::Request,
        ..Quirks::default()
    };
    let body = Value::Object(render_request("m", &request, whole).unwrap());
    assert_eq!(body["cache_control"], marker);
    assert_eq!(body["messages"][2].get("reasoning"), None);
}

#[test]
fn a_wrong_extra_body_is_a_configuration_error() {
    let request = ModelRequest {
        settings: serde_json::Map::from_iter([("extra_body".to_owned(), json!([1]))]),
        ..ModelRequest::default()
    };
    let error = render_request("m", &request, Quirks::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    assert!(error.message().contains("extra_body"), "{error}");
}

#[test]
fn one_of_several_choices_is_followed() {
    let chunk = |index: u32, text: &str| json!({"id": "c", "choices": [{"index": index, "delta": {"content": text}, "finish_reason": null}]});
    let decoded = decode(&[
        chunk(0, "Hel"),
        chunk(1, "Bye"),
        chunk(0, "lo"),
        json!({"id": "c", "choices": [{"index": 1, "delta": {}, "finish_reason": "length"}]}),
        json!({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
    ]);
    let Decoded { events, outcome } = decoded;
    assert_eq!(outcome.unwrap().message.text(), "Hello");
    assert!(!events.iter().any(|event| event.data()["text"] == "Bye"));
}
