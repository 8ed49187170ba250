use std::time::{Duration, Instant};

use serde_json::json;

use super::server::{Reply, Server, Then};
use super::{ask, ask_watched, chunk, last_chunk, local, model, question};
use crate::deadline::Deadline;
use crate::error::ErrorKind;
use crate::model::{ModelRequest, StopReason};
use crate::provider::{Api, ProviderConfig};

#[tokio::test]
async fn an_answer_streams_and_its_connection_is_used_again() {
    let answer = Reply::stream(&[chunk("Hel"), chunk("lo"), last_chunk()]);
    let server = Server::start(vec![answer.clone(), answer]).await;
    let model = model(local(&server.base_url()).api_key("key-12345678"));
    for _ in 0..2 {
        let asked = ask(&*model, &question()).await;
        assert_eq!(
            asked.kinds(),
            ["message_start", "text_delta", "text_delta", "usage"]
        );
        let response = asked.outcome.unwrap();
        assert_eq!(response.message.text(), "Hello");
        assert_eq!(response.stop_reason, StopReason::EndTurn);
        assert_eq!(response.usage.total_tokens(), 5);
    }
    assert_eq!(server.connections(), 1);
    let requests = server.requests();
    let head = &requests[0].head;
    assert!(
        head.starts_with("POST /v1/chat/completions HTTP/1.1"),
        "{head}"
    );
    for line in [
        "authorization: Bearer key-12345678",
        "content-type: application/json",
        "accept: text/event-stream",
    ] {
        assert!(head.contains(line), "{head}");
    }
    assert_eq!(requests[0].body["model"], "test-model");
    assert_eq!(requests[0].body, requests[1].body);
}

#[tokio::test]
async fn the_responses_format_is_the_default() {
    let server = Server::start(vec![Reply::stream(&[
        json!({"type": "response.created", "response": {"id": "r1", "model": "m"}}),
        json!({"type": "response.output_text.delta", "output_index": 0, "delta": "Hi"}),
        json!({"type": "response.completed", "response": {"id": "r1", "status": "completed"}}),
    ])])
    .await;
    let model = model(ProviderConfig::openai_compatible(server.base_url()));
    let asked = ask(&*model, &question()).await;
    assert_eq!(asked.kinds(), ["message_start", "text_delta"]);
    let request = &server.requests()[0];
    assert!(request.head.starts_with("POST /v1/responses "));
    assert!(!request.head.contains("authorization"), "{}", request.head);
    assert_eq!(request.body["input"][0]["role"], "user");
}

#[tokio::test]
async fn headers_of_the_application_win_and_empty_ones_are_not_sent() {
    let server = Server::start(vec![Reply::stream(&[last_chunk()])]).await;
    let config = local(&server.base_url())
        .header("Accept", "text/special")
        .header("x-team", "support")
        .header("x-empty", "");
    ask(&*model(config), &question()).await.outcome.unwrap();
    let head = &server.requests()[0].head;
    assert!(head.contains("accept: text/special"), "{head}");
    assert!(head.contains("x-team: support"), "{head}");
    assert!(
        !head.contains("x-empty") && !head.contains("text/event-stream"),
        "{head}"
    );
}

#[tokio::test]
async fn a_service_that_does_not_stream_is_understood() {
    let body = json!({"id": "c1", "model": "m", "choices": [{"finish_reason": "stop",
        "message": {"role": "assistant", "content": "Hi"}}]});
    let headers = [("content-type", "application/json; charset=utf-8")];
    let server = Server::start(vec![Reply::new(200, &headers, &body.to_string())]).await;
    let asked = ask(&*model(local(&server.base_url())), &question()).await;
    assert_eq!(asked.outcome.unwrap().message.text(), "Hi");
}

#[tokio::test]
async fn a_server_that_hangs_after_the_answer_takes_nothing_away() {
    let config = |server: &Server| local(&server.base_url()).option("read_timeout", 0.05);
    for then in [Then::Stall, Then::Reset, Then::Close] {
        let server = Server::start(vec![Reply::open_stream(&[chunk("Hi"), last_chunk()], then)]);
        let server = server.await;
        // The end of the answer was sent together with its text.
        let asked = ask_watched(&*model(config(&server)), &question(), |event| {
            if event.kind() == "text_delta" {
                server.reset();
            }
        })
        .await;
        assert_eq!(asked.outcome.unwrap().message.text(), "Hi", "{then:?}");
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn dropping_the_call_closes_the_connection() {
    // Before the head, and in the middle of the answer.
    let silent = Reply::open_stream(&[], Then::Stall);
    let begun = Reply::open_stream(&[chunk("Hi")], Then::Stall);
    for reply in [silent, begun] {
        let server = Server::start(vec![reply]).await;
        let model = model(local(&server.base_url()));
        let call = tokio::spawn(async move { ask(&*model, &question()).await.outcome });
        server.asked(1).await;
        call.abort();
        let left = Instant::now();
        server.departures(1).await;
        assert!(left.elapsed() < Duration::from_millis(100));
    }
}

#[tokio::test]
async fn the_deadline_ends_a_silent_answer() {
    let server = Server::start(vec![Reply::open_stream(&[chunk("Hi")], Then::Stall)]).await;
    let request = ModelRequest {
        deadline: Some(Deadline::after(Duration::from_millis(100))),
        ..question()
    };
    let asked = ask(&*model(local(&server.base_url())), &request).await;
    assert_eq!(asked.kinds(), ["message_start", "text_delta"]);
    assert_eq!(
        asked.outcome.unwrap_err().kind(),
        ErrorKind::DeadlineExceeded
    );
    server.departures(1).await;
}

#[test]
fn the_api_is_named_as_in_configurations() {
    for api in [Api::Responses, Api::ChatCompletions] {
        assert_eq!(Api::from_name(api.as_str()), Some(api));
    }
    assert_eq!(Api::from_name("chat"), None);
}
