use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::server::{Reply, Server, Then};
use super::{ask, ask_watched, chunk, last_chunk, local, model, question};
use crate::deadline::Deadline;
use crate::error::ErrorKind;
use crate::message::Usage;
use crate::model::ModelRequest;

fn good() -> Reply {
    Reply::stream(&[chunk("Hi"), last_chunk()])
}

fn refusal(status: u16, retry_after: &str) -> Reply {
    let body = r#"{"error":{"message":"slow down"}}"#;
    Reply::new(status, &[("retry-after", retry_after)], body)
}

#[tokio::test]
async fn a_requested_pause_is_kept_and_announced() {
    let server = Server::start(vec![refusal(429, "0.05"), good()]).await;
    let begun = Instant::now();
    let config = local(&server.base_url()).option("max_retry_delay", 1);
    let asked = ask(&*model(config), &question()).await;
    assert!(begun.elapsed() >= Duration::from_millis(50));
    assert_eq!(
        asked.retries(),
        [
            json!({"attempt": 1, "delay": 0.05, "error_class": "HTTPError", "partial_text": false,
            "http_status": 429})
        ]
    );
    assert_eq!(asked.outcome.unwrap().message.text(), "Hi");
}

#[tokio::test]
async fn a_pause_over_the_cap_fails_at_once() {
    let server = Server::start(vec![refusal(429, "86400"), good()]).await;
    let asked = ask(&*model(local(&server.base_url())), &question()).await;
    let error = asked.outcome.unwrap_err();
    assert_eq!((error.kind(), error.status()), (ErrorKind::Http, Some(429)));
    for part in ["slow down", "86400 s", "max_retry_delay"] {
        assert!(error.message().contains(part), "{error}");
    }
    assert_eq!(server.requests().len(), 1);
    assert!(asked.events.is_empty());
}

#[tokio::test]
async fn a_pause_over_the_deadline_fails_at_once() {
    let server = Server::start(vec![refusal(503, "5"), good()]).await;
    let config = local(&server.base_url()).option("max_retry_delay", 16);
    let request = ModelRequest {
        deadline: Some(Deadline::after(Duration::from_secs(2))),
        ..question()
    };
    let begun = Instant::now();
    let error = ask(&*model(config), &request).await.outcome.unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(1));
    assert_eq!(error.status(), Some(503));
    assert!(error.message().contains("deadline"), "{error}");
}

#[tokio::test]
async fn passing_failures_are_retried_with_backoff() {
    for status in [408, 409, 429, 500, 529] {
        let server = Server::start(vec![refusal(status, "garbage"), good()]).await;
        let asked = ask(&*model(local(&server.base_url())), &question()).await;
        let delay = asked.retries()[0]["delay"].as_f64().unwrap();
        assert!((0.005..=0.01).contains(&delay), "{status}: {delay}");
        assert!(asked.outcome.is_ok(), "{status}");
    }
}

#[tokio::test]
async fn final_failures_are_not_retried() {
    let overflow = r#"{"error":{"message":"This model's maximum context length is 8 tokens"}}"#;
    for (status, body, kind) in [
        (400, overflow, ErrorKind::ContextWindowOverflow),
        (413, overflow, ErrorKind::ContextWindowOverflow),
        (400, r#"{"error":"no"}"#, ErrorKind::Http),
        (401, overflow, ErrorKind::Http),
        (404, "", ErrorKind::Http),
    ] {
        let server = Server::start(vec![Reply::new(status, &[], body), good()]).await;
        let asked = ask(&*model(local(&server.base_url())), &question()).await;
        let error = asked.outcome.unwrap_err();
        assert_eq!((error.kind(), error.status()), (kind, Some(status)));
        assert_eq!(server.requests().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn a_reset_in_the_middle_is_retried_and_announced() {
    let five: Vec<Value> = (0..5).map(|number| chunk(&number.to_string())).collect();
    for then in [Then::Reset, Then::Close] {
        let server = Server::start(vec![Reply::open_stream(&five, then), good()]).await;
        let mut texts = 0;
        let asked = ask_watched(&*model(local(&server.base_url())), &question(), |event| {
            texts += usize::from(event.kind() == "text_delta");
            if texts == 5 {
                server.reset();
            }
        })
        .await;
        let mut expected = vec!["message_start"];
        expected.extend(["text_delta"; 5]);
        expected.extend(["model_retry", "message_start", "text_delta", "usage"]);
        assert_eq!(asked.kinds(), expected, "{then:?}");
        let retry = &asked.retries()[0];
        assert_eq!(retry["partial_text"], true);
        let class = match then {
            Then::Reset => "HTTPError",
            _ => "ProtocolError",
        };
        assert_eq!(retry["error_class"], class);
        assert_eq!(retry.get("http_status"), None);
        assert_eq!(asked.outcome.unwrap().message.text(), "Hi");
    }
}

#[tokio::test]
async fn retries_are_counted() {
    for (retries, requests) in [(0, 1), (1, 2), (2, 3)] {
        let server = Server::start(vec![refusal(500, ""); 5]).await;
        let config = local(&server.base_url()).option("max_retries", retries);
        let asked = ask(&*model(config), &question()).await;
        assert_eq!(asked.retries().len() + 1, requests);
        assert_eq!(asked.outcome.unwrap_err().status(), Some(500));
        assert_eq!(server.requests().len(), requests);
    }
}

#[tokio::test]
async fn an_error_in_the_stream_names_its_code_when_that_is_safe() {
    let overloaded = json!({"error": {"code": 503, "message": "overloaded"}});
    let server = Server::start(vec![Reply::stream(&[chunk("a"), overloaded]), good()]).await;
    let asked = ask(&*model(local(&server.base_url())), &question()).await;
    let retry = &asked.retries()[0];
    assert_eq!(retry["error_code"], "503");
    assert_eq!(retry["error_class"], "ProviderError");
}

#[tokio::test]
async fn tokens_of_failed_attempts_count() {
    let spent = json!({"id": "c1", "choices": [], "usage":
        {"prompt_tokens": 10, "completion_tokens": 1}});
    let broken = Reply::open_stream(&[chunk("a"), spent], Then::Close);
    let server = Server::start(vec![broken.clone(), good()]).await;
    let asked = ask(&*model(local(&server.base_url())), &question()).await;
    let usage = asked.outcome.as_ref().unwrap().usage;
    let expected = Usage {
        input_tokens: 13,
        output_tokens: 3,
        ..Usage::default()
    };
    assert_eq!(usage, expected);
    assert_eq!(
        asked.kinds(),
        [
            "message_start",
            "text_delta",
            "usage",
            "model_retry",
            "message_start",
            "text_delta",
            "usage"
        ]
    );
    let server = Server::start(vec![broken; 3]).await;
    let error = ask(&*model(local(&server.base_url())), &question()).await;
    let data = error.outcome.unwrap_err().data().cloned().unwrap();
    assert_eq!(data["usage"]["total_tokens"], 33);
}
