//! The bytes of streams: framing, splits, newlines, endings.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod peer;

use std::io::{ErrorKind, Read};

use peer::Server;
use serde_json::{Value, json};

fn body(server: &Server, exchange: Value) -> String {
    let answer = server.exchange(exchange).ask().answer();
    assert!(answer.complete, "{answer:?}");
    answer.text()
}

#[test]
fn frames_are_rendered_as_written() {
    let server = Server::start();
    let sse = json!([
        {"b": 1, "a": [true, null]},
        [1, 2],
        7,
        "plain",
        "two\nlines",
        {"raw": "id: 3\r\nodd"},
        {"bytes": [10, 10]},
        {"comment": "ping"},
        {"event": "named", "data": {"x": "é"}, "id": "9"},
        {"event": "not a directive"},
        "[DONE]",
    ]);
    assert_eq!(
        body(&server, json!({ "sse": sse })),
        "data: {\"b\":1,\"a\":[true,null]}\n\ndata: [1,2]\n\ndata: 7\n\ndata: plain\n\n\
         data: two\ndata: lines\n\nid: 3\r\nodd\n\n: ping\n\n\
         event: named\nid: 9\ndata: {\"x\":\"é\"}\n\n\
         data: {\"event\":\"not a directive\"}\n\ndata: [DONE]\n\n"
    );
}

#[test]
fn newline_modes_and_their_neighbours() {
    let server = Server::start();
    let sse = json!(["a", {"event": "e", "data": "b"}, {"raw": "x\n"}]);
    for (newline, text) in [("lf", "\n"), ("crlf", "\r\n"), ("cr", "\r")] {
        let expected = "data: a~~event: e~data: b~~".replace('~', text) + "x\n";
        assert_eq!(
            body(&server, json!({"sse": sse, "newline": newline})),
            expected
        );
    }
    let exchange = json!({
        "sse": ["a", "b"], "bom": true, "no_space": true, "final_blank": false, "newline": "crlf",
    });
    assert_eq!(body(&server, exchange), "\u{feff}data:a\r\n\r\ndata:b\r\n");
}

#[test]
fn every_frame_is_a_chunk_and_split_cuts_them() {
    let server = Server::start();
    let whole = server.exchange(json!({"sse": ["a", "bc"]})).ask().answer();
    assert_eq!(
        whole.chunks,
        [b"data: a\n\n".to_vec(), b"data: bc\n\n".to_vec()]
    );

    let payload = "data: ü🙂\n\ndata: [DONE]\n\n".as_bytes();
    for size in 1..=payload.len() + 1 {
        let split = server
            .exchange(json!({"sse": ["ü🙂", "[DONE]"], "split": size}))
            .ask()
            .answer();
        let expected: Vec<Vec<u8>> = payload.chunks(size).map(<[u8]>::to_vec).collect();
        assert_eq!(split.chunks, expected, "split {size}");
        assert!(split.complete);
    }
}

#[test]
fn plain_bodies_can_be_split_and_lie_about_their_length() {
    let server = Server::start();
    let exchange = json!({"status": 429, "headers": {"retry-after": 2}, "body": {"error": "slow"}, "split": 2});
    let answer = server.exchange(exchange).ask().answer();
    assert_eq!(answer.status, 429);
    assert!(
        answer
            .head
            .starts_with("HTTP/1.1 429 Too Many Requests\r\n")
    );
    assert!(answer.head.contains("content-type: application/json\r\n"));
    assert!(answer.head.contains("retry-after: 2\r\n"));
    assert_eq!(answer.text(), r#"{"error":"slow"}"#);

    let exchange = json!({"body": "short", "headers": {"content-length": 99}, "then": "close"});
    let mut client = server.exchange(exchange).ask();
    assert!(client.head().contains("content-length: 99\r\n"));
    let mut rest = String::new();
    client.reader.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "short");
}

#[test]
fn repeated_frames_come_in_full_whatever_the_framing() {
    let server = Server::start();
    let sse =
        |count: usize| json!(["first", {"repeat": {"frame": {"n": "x"}, "count": count}}, "last"]);
    for count in [0, 1, 2, 3, 1_000, 100_000] {
        let expected = "data: first\n\n".to_owned()
            + &"data: {\"n\":\"x\"}\n\n".repeat(count)
            + "data: last\n\n";
        let answer = server.exchange(json!({"sse": sse(count)})).ask().answer();
        assert_eq!(answer.chunks.len(), count + 2);
        assert!(answer.text() == expected, "count {count}");
        let split = body(&server, json!({"sse": sse(count), "split": 1_000}));
        assert!(split == expected, "count {count}, split");
    }
    let paced = json!({"sse": sse(5), "chunk_delay_ms": 2, "split": 4});
    assert_eq!(body(&server, paced).matches("\"x\"").count(), 5);
    let only = json!([{"repeat": {"frame": "x", "count": 3}}]);
    assert_eq!(
        body(
            &server,
            json!({"sse": only, "bom": true, "final_blank": false})
        ),
        "\u{feff}data: x\n\ndata: x\n\ndata: x\n"
    );
}

#[test]
fn close_and_after_frames_cut_the_stream() {
    let server = Server::start();
    for (limit, left) in [(0, ""), (2, "ab"), (3, "abb"), (-1, "abbbb"), (-9, "")] {
        let sse = json!([{"raw": "a"}, {"delay_ms": 1}, {"repeat": {"frame": {"raw": "b"}, "count": 4}}, {"raw": "c"}]);
        let answer = server
            .exchange(json!({"sse": sse, "then": "close", "after_frames": limit}))
            .ask()
            .answer();
        assert!(!answer.complete);
        assert_eq!(answer.text(), left, "after {limit}");
    }
}

#[test]
fn reset_is_a_reset_and_not_an_end() {
    let server = Server::start();
    let scenario = server.exchange(json!({
        "chat": {"text": ["a", "b", "c"]}, "then": "reset", "after_frames": 2,
    }));
    let mut client = scenario.ask();
    client.head();
    for _ in 0..2 {
        assert!(client.chunk().unwrap().starts_with(b"data: {"));
    }
    let error = client.reader.read(&mut [0; 8]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    let (status, requests) = scenario.wait("answered=1");
    assert_eq!(status, 200);
    assert_eq!(requests[0]["disconnected_ms"], Value::Null);
}

#[test]
fn chat_shorthand_streams_like_the_vendor() {
    let server = Server::start();
    let text = body(
        &server,
        json!({"chat": {
            "text": ["Hel", {"repeat": "l", "count": 3}, "o"],
            "reasoning": "hm", "reasoning_field": "reasoning",
            "tool_calls": [{"name": "add", "arguments": {"a": 1}, "pieces": 2}],
        }}),
    );
    let events: Vec<&str> = text
        .split_terminator("\n\n")
        .map(|event| event.strip_prefix("data: ").unwrap())
        .collect();
    assert_eq!(events.last(), Some(&"[DONE]"));
    let chunks: Vec<Value> = events[..events.len() - 1]
        .iter()
        .map(|event| serde_json::from_str(event).unwrap())
        .collect();
    let deltas: Vec<&Value> = chunks
        .iter()
        .map(|chunk| &chunk["choices"][0]["delta"])
        .collect();
    assert_eq!(
        *deltas[0],
        json!({"role": "assistant", "content": "", "refusal": null})
    );
    assert_eq!(*deltas[1], json!({"reasoning": "hm"}));
    let content: String = deltas
        .iter()
        .filter_map(|delta| delta["content"].as_str())
        .collect();
    assert_eq!(content, "Hellllo");
    let call = |delta: &Value| delta["tool_calls"][0].clone();
    assert_eq!(call(deltas[7])["id"], "call_1");
    assert_eq!(call(deltas[8])["function"], json!({"arguments": "{\"a\""}));
    assert_eq!(call(deltas[9])["function"], json!({"arguments": ":1}"}));
    assert_eq!(chunks[10]["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(chunks[11]["choices"], json!([]));
    assert_eq!(chunks[11]["usage"]["total_tokens"], 15);
    assert_eq!(chunks.len(), 12);
}

#[test]
fn responses_shorthand_names_and_numbers_its_events() {
    let server = Server::start();
    let text = body(
        &server,
        json!({"responses": {"text": "Hi", "finish_reason": "length", "usage": {"input_tokens": 3}}}),
    );
    let mut kinds = Vec::new();
    let mut last = Value::Null;
    for (number, event) in text.split_terminator("\n\n").enumerate() {
        let (name, data) = event.split_once('\n').unwrap();
        last = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!(last["sequence_number"], number);
        assert_eq!(name.strip_prefix("event: "), last["type"].as_str());
        kinds.push(last["type"].as_str().unwrap().to_owned());
    }
    assert_eq!(
        kinds,
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.incomplete",
        ]
    );
    let response = &last["response"];
    assert_eq!(
        response["incomplete_details"]["reason"],
        "max_output_tokens"
    );
    assert_eq!(response["output"][0]["content"][0]["text"], "Hi");
    assert_eq!(response["usage"]["total_tokens"], 8);
}

/// The frames of an AWS event stream, as text headers and payloads.
fn amazon_frames(mut bytes: &[u8]) -> Vec<(Vec<String>, String)> {
    let number = |bytes: &[u8], at: usize| {
        usize::try_from(u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())).unwrap()
    };
    let mut frames = Vec::new();
    while !bytes.is_empty() {
        let (frame, rest) = bytes.split_at(number(bytes, 0));
        let (mut headers, payload) = frame[12..frame.len() - 4].split_at(number(frame, 4));
        let mut texts = Vec::new();
        while let [length, rest @ ..] = headers {
            let (name, rest) = rest.split_at(usize::from(*length));
            let length = usize::from(u16::from_be_bytes([rest[1], rest[2]]));
            let (value, rest) = rest[3..].split_at(length);
            texts.push([name, value].map(String::from_utf8_lossy).join("="));
            headers = rest;
        }
        frames.push((texts, String::from_utf8_lossy(payload).into_owned()));
        bytes = rest;
    }
    frames
}

#[test]
fn frames_of_amazon_are_rendered_cut_and_left_out() {
    let server = Server::start();
    let frames = json!([
        {"event": "messageStart", "data": {"role": "assistant"}},
        {"repeat": {"frame": {"event": "ping", "data": "not json"}, "count": 2}},
        {"exception": "throttlingException", "data": {"message": "é"}},
        {"error": "InternalFailure", "message": "oh"},
        {"bytes": [0, 0, 0, 16, 0, 0, 0, 0, 5, 194, 72, 235, 125, 152, 200, 255]},
    ]);
    let event = |kind: &str| {
        vec![
            format!(":event-type={kind}"),
            ":content-type=application/json".to_owned(),
            ":message-type=event".to_owned(),
        ]
    };
    let mut expected = vec![
        (event("messageStart"), r#"{"role":"assistant"}"#.to_owned()),
        (event("ping"), "not json".to_owned()),
        (event("ping"), "not json".to_owned()),
        (
            vec![
                ":exception-type=throttlingException".to_owned(),
                ":content-type=application/json".to_owned(),
                ":message-type=exception".to_owned(),
            ],
            r#"{"message":"é"}"#.to_owned(),
        ),
        (
            vec![
                ":message-type=error".to_owned(),
                ":error-code=InternalFailure".to_owned(),
                ":error-message=oh".to_owned(),
            ],
            String::new(),
        ),
        (vec![], String::new()),
    ];
    for split in [Value::Null, json!(1), json!(7)] {
        let exchange = json!({"eventstream": frames, "split": split});
        let answer = server.exchange(exchange).ask().answer();
        assert!(answer.complete);
        assert_eq!(amazon_frames(&answer.body), expected, "{split}");
    }
    expected.truncate(3);
    let exchange = json!({"eventstream": frames, "after_frames": 3, "then": "close"});
    let answer = server.exchange(exchange).ask().answer();
    assert!(!answer.complete);
    assert_eq!(amazon_frames(&answer.body), expected);
}
