//! What the server notices of its clients, and what clients can steer.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod peer;

use std::io::{Read, Write};
use std::net::Shutdown;
use std::time::{Duration, Instant};

use peer::Server;
use serde_json::{Value, json};

/// Far above the milliseconds it takes, far below the pauses in the scripts.
const PROMPT: Duration = Duration::from_millis(500);

#[test]
fn a_client_that_leaves_is_noticed_wherever_the_exchange_stands() {
    let server = Server::start();
    let hour = 3_600_000;
    for exchange in [
        json!({"stall_before_head": true}),
        json!({"delay_ms": hour, "body": "late"}),
        json!({"sse": ["a"], "then": "stall"}),
        json!({"sse": ["a", {"delay_ms": hour}, "b"]}),
        json!({"sse": ["a", "b"], "chunk_delay_ms": hour}),
        json!({"sse": ["a", {"wait_for": "never"}, "b"]}),
        // More than the kernel buffers: the server is stuck in a write.
        json!({"sse": [{"repeat": {"frame": "x".repeat(1000), "count": 100_000}}]}),
    ] {
        let scenario = server.exchange(exchange.clone());
        let client = scenario.ask();
        assert_eq!(scenario.wait("requests=1").0, 200);
        if exchange["sse"].is_array() {
            // The first bytes are here: the server is past the head.
            assert!(client.reader.get_ref().peek(&mut [0]).unwrap() > 0);
        }
        assert_eq!(scenario.journal()[0]["disconnected_ms"], Value::Null);
        let left = Instant::now();
        drop(client);
        let (status, requests) = scenario.wait("requests=1&disconnects=1");
        let noticed = left.elapsed();
        assert_eq!(status, 200, "{exchange}");
        assert!(requests[0]["disconnected_ms"].as_f64() >= requests[0]["received_ms"].as_f64());
        assert!(noticed < PROMPT, "{exchange}: {noticed:?}");
        assert_eq!(requests[0]["answered"], exchange["then"] == "stall");
    }
}

#[test]
fn a_finished_exchange_is_answered_and_not_disconnected() {
    let server = Server::start();
    let scenario =
        server.scenario(&json!({"cycle": true, "exchanges": [{"chat": {"text": "Hi"}}]}));
    for round in 0..200 {
        let mut client = scenario.ask();
        client.head();
        // Leaves at [DONE], before the end of the chunked body, as SDKs do.
        while !client.chunk().unwrap().ends_with(b"[DONE]\n\n") {}
        drop(client);
        let journal = scenario.journal();
        assert_eq!(journal[round]["answered"], true);
        assert_eq!(journal[round]["disconnected_ms"], Value::Null);
    }
}

#[test]
fn signals_release_waiting_exchanges_early_or_late() {
    let server = Server::start();
    let scenario = server.scenario(&json!({"cycle": true, "exchanges": [
        {"chat": {"text": ["a", {"wait_for": "go"}, "b"]}},
    ]}));
    let mut client = scenario.ask();
    client.head();
    client.chunk();
    assert!(
        String::from_utf8(client.chunk().unwrap())
            .unwrap()
            .contains("\"a\"")
    );
    assert_eq!(scenario.wait("answered=1&timeout_ms=30").0, 408);
    scenario.signal("other");
    assert_eq!(scenario.wait("answered=1&timeout_ms=30").0, 408);
    scenario.signal("go");
    assert!(
        String::from_utf8(client.chunk().unwrap())
            .unwrap()
            .contains("\"b\"")
    );
    assert_eq!(scenario.wait("answered=1").0, 200);
    assert!(scenario.ask().answer().complete);
}

#[test]
fn the_journal_tells_what_was_asked_on_which_connection() {
    let server = Server::start();
    let scenario = server.scenario(&json!({"exchanges": [
        {"match": {"path": "chat/completions", "body_contains": "\"m\""}, "body": {"ok": 1}},
        {"match": {"path": "responses"}, "status": 204},
        {"sse": ["x"], "headers": {"connection": "close"}},
    ]}));
    let mut client = server.connect();
    scenario.ask_on(&mut client);
    assert_eq!(client.answer().text(), r#"{"ok":1}"#);
    scenario.ask_on(&mut client);
    let refused = client.answer();
    assert_eq!(refused.status, 500);
    assert!(
        refused
            .text()
            .contains("exchange 1: expected path responses, got chat/completions")
    );
    // Chunked request, with a body that is no JSON.
    let head = format!(
        "PUT /s/{}/v1/responses?a=1 HTTP/1.1\r\nX-Two: 1\r\nx-two: 2\r\n",
        scenario.id
    );
    let sent = head + "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n";
    client.reader.get_mut().write_all(sent.as_bytes()).unwrap();
    assert_eq!(client.answer().status, 204);
    scenario.ask_on(&mut client);
    assert!(client.answer().complete);
    assert_eq!(
        client.reader.read(&mut [0; 8]).unwrap(),
        0,
        "connection: close"
    );
    let exhausted = scenario.ask().answer();
    assert_eq!(exhausted.status, 500);
    assert!(
        exhausted
            .text()
            .contains("all 3 exchanges of this scenario are used up")
    );

    let journal = scenario.journal();
    assert_eq!(journal.len(), 5);
    assert_eq!(journal[0]["method"], "POST");
    assert_eq!(journal[0]["path"], "chat/completions");
    assert_eq!(journal[0]["headers"]["authorization"], "Bearer key");
    assert_eq!(journal[0]["body"], json!({"model": "m"}));
    assert_eq!(journal[0]["error"], Value::Null);
    assert!(
        journal[1]["error"]
            .as_str()
            .unwrap()
            .contains("expected path")
    );
    assert_eq!(journal[2]["method"], "PUT");
    assert_eq!(journal[2]["query"], "a=1");
    assert_eq!(journal[2]["headers"]["x-two"], "1, 2");
    assert_eq!(journal[2]["body"], "hello");
    for index in 0..4 {
        assert_eq!(journal[index]["connection"], journal[0]["connection"]);
        assert_eq!(journal[index]["answered"], true);
        assert!(journal[index]["bytes_written"].as_u64().unwrap() > 0);
    }
    assert_ne!(journal[4]["connection"], journal[0]["connection"]);
}

#[test]
fn unordered_scenarios_answer_by_match() {
    let server = Server::start();
    let scenario = server.scenario(&json!({"unordered": true, "exchanges": [
        {"match": {"body_contains": "never sent"}, "body": "a"},
        {"match": {"body_contains": "model"}, "body": "b"},
    ]}));
    assert_eq!(scenario.ask().answer().text(), "b");
    assert_eq!(scenario.ask().answer().status, 500);
}

#[test]
fn mistakes_in_a_scenario_are_explained() {
    let server = Server::start();
    for (exchange, message) in [
        (json!({"staus": 200}), "exchange 0: unknown field `staus`"),
        (
            json!({"sse": [], "body": ""}),
            "give only one of body, sse, eventstream, chat and responses",
        ),
        (
            json!({"sse": [{"delay_ms": "1"}]}),
            "delay_ms takes a whole number",
        ),
        (
            json!({"sse": [{"repeat": {"frame": {"delay_ms": 1}, "count": 2}}]}),
            "bytes of its own",
        ),
        (
            json!({"split": 0, "sse": []}),
            "split takes null or a number from 1",
        ),
        (
            json!({"chat": {"text": [1]}}),
            "text and reasoning take a string",
        ),
        (json!({"then": "explode"}), "unknown variant `explode`"),
    ] {
        let spec = json!({"exchanges": [exchange]});
        let (status, reply) = server.control("POST", "/_scenarios", &spec);
        assert_eq!(status, 400, "{spec}");
        let text = reply["error"]["message"].as_str().unwrap();
        assert!(text.contains(message), "{text}");
    }
    let (status, health) = server.control("GET", "/_health", &Value::Null);
    assert_eq!((status, health["ok"].clone()), (200, json!(true)));
    assert_eq!(
        server
            .control("GET", "/_scenarios/none/journal", &Value::Null)
            .0,
        404
    );
    assert_eq!(server.control("GET", "/nowhere", &Value::Null).0, 404);
    let scenario = server.exchange(json!({"body": ""}));
    let path = format!("/_scenarios/{}/wait?requests=no", scenario.id);
    assert_eq!(server.control("GET", &path, &Value::Null).0, 400);
}

#[test]
fn deleted_scenarios_are_gone() {
    let server = Server::start();
    let scenario = server.exchange(json!({"body": ""}));
    let path = format!("/_scenarios/{}", scenario.id);
    assert_eq!(server.control("DELETE", &path, &Value::Null).0, 200);
    assert_eq!(server.control("DELETE", &path, &Value::Null).0, 404);
    assert_eq!(scenario.ask().answer().status, 404);
}

#[test]
fn the_program_ends_with_its_standard_input() {
    let mut server = Server::start();
    let mut client = server.exchange(json!({"stall_before_head": true})).ask();
    drop(server.process.stdin.take());
    assert!(server.process.wait().unwrap().success());
    assert_eq!(client.reader.read(&mut [0]).unwrap_or(0), 0);
    let _ = client.reader.get_ref().shutdown(Shutdown::Both);
}

#[test]
fn many_slow_streams_at_once() {
    let server = Server::start();
    let scenario = server.scenario(&json!({"cycle": true, "exchanges": [
        {"chat": {"text": ["a", {"wait_for": "go"}, {"repeat": "b", "count": 20}]}, "chunk_delay_ms": 5},
    ]}));
    // The test process itself may be limited to 1,024 open files.
    let mut clients: Vec<_> = (0..500).map(|_| scenario.ask()).collect();
    assert_eq!(scenario.wait("requests=500").0, 200);
    scenario.signal("go");
    for client in &mut clients {
        let answer = client.answer();
        assert!(answer.complete);
        assert_eq!(answer.text().matches("\"content\":\"b\"").count(), 20);
    }
    assert_eq!(scenario.wait("answered=500").0, 200);
}
