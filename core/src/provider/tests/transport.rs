//! Requests that the application carries, and models without an agent.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::StreamExt;
use parking_lot::Mutex;

use super::*;
use crate::error::ErrorKind;
use crate::model::ModelStream;
use crate::provider::{Transport, TransportRequest, TransportResponse};

/// Answers each request with the next of its statuses, and success with a text in pieces.
struct Canned {
    statuses: Vec<u16>,
    asked: Arc<Mutex<Vec<TransportRequest>>>,
    sent: AtomicUsize,
}

#[async_trait::async_trait]
impl Transport for Canned {
    async fn send(&self, request: TransportRequest) -> Result<TransportResponse> {
        self.asked.lock().push(request);
        let status = self.statuses[self.sent.fetch_add(1, Ordering::Relaxed)];
        let text = if status == 200 {
            let events = [chunk("Hel"), chunk("lo"), end_chunk()];
            let lines = events.iter().map(|event| format!("data: {event}\n\n"));
            lines.chain(["data: [DONE]\n\n".to_owned()]).collect()
        } else {
            "down".to_owned()
        };
        let bytes: Vec<_> = text
            .into_bytes()
            .into_iter()
            .map(|byte| Ok(vec![byte]))
            .collect();
        Ok(TransportResponse {
            status,
            headers: vec![("retry-after-ms".into(), "1".into())],
            body: Box::pin(futures_util::stream::iter(bytes)),
        })
    }
}

fn end_chunk() -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
}

fn connected(
    statuses: &[u16],
) -> (
    Arc<crate::provider::ResolvedModel>,
    Arc<Mutex<Vec<TransportRequest>>>,
) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let transport = Canned {
        statuses: statuses.to_vec(),
        asked: Arc::clone(&asked),
        sent: AtomicUsize::new(0),
    };
    let config = ProviderConfig::openai_compatible("https://models.example.test/v1")
        .api_key("test-key")
        .api(Api::ChatCompletions)
        .transport(transport);
    (config.connect("m").unwrap(), asked)
}

#[tokio::test]
async fn a_transport_carries_requests_and_failures_are_tried_again() {
    let (model, asked) = connected(&[503, 200]);
    let response = model
        .complete(ModelRequest::new([Message::user("Hi")]))
        .await
        .unwrap();
    assert_eq!(response.message.text(), "Hello");
    let asked = asked.lock();
    assert_eq!(asked.len(), 2);
    assert_eq!(
        asked[0].url,
        "https://models.example.test/v1/chat/completions"
    );
    assert_eq!(asked[0].path, "chat/completions");
    assert!(
        asked[0]
            .headers
            .contains(&("authorization".into(), "Bearer test-key".into()))
    );
    assert!(!format!("{:?}", asked[0]).contains("test-key"));
    let body: Value = serde_json::from_slice(&asked[0].body).unwrap();
    assert_eq!(body["model"], "m");
}

#[tokio::test]
async fn a_model_streams_without_an_agent() {
    let (model, _) = connected(&[200]);
    let mut stream = ModelStream::new(model, ModelRequest::new([Message::user("Hi")]));
    let mut texts = Vec::new();
    while let Some(event) = stream.next().await {
        if let StreamEvent::TextDelta { text } = event {
            texts.push(text);
        }
    }
    assert_eq!(texts, ["Hel", "lo"]);
    assert_eq!(stream.finish().await.unwrap().message.text(), "Hello");
}

#[tokio::test]
async fn failures_that_last_are_the_outcome() {
    let (model, _) = connected(&[400]);
    let error = model
        .complete(ModelRequest::new([Message::user("Hi")]))
        .await
        .unwrap_err();
    assert_eq!((error.kind(), error.status()), (ErrorKind::Http, Some(400)));
    let (config, same) = {
        let canned = || Canned {
            statuses: vec![],
            asked: Arc::default(),
            sent: AtomicUsize::new(0),
        };
        let config = ProviderConfig::new("openai").transport(canned());
        (config.clone(), config)
    };
    assert!(config == same && config != ProviderConfig::new("openai"));
}

/// Answers with a body that always has more, or panics.
struct Endless {
    piece: &'static str,
    panics: bool,
}

#[async_trait::async_trait]
impl Transport for Endless {
    async fn send(&self, _request: TransportRequest) -> Result<TransportResponse> {
        assert!(!self.panics, "a transport of the application panics");
        let piece = self.piece;
        Ok(TransportResponse {
            status: 200,
            headers: Vec::new(),
            body: Box::pin(futures_util::stream::repeat_with(move || {
                Ok(piece.as_bytes().to_vec())
            })),
        })
    }
}

fn endless(piece: &'static str, panics: bool) -> Arc<crate::provider::ResolvedModel> {
    let config = ProviderConfig::openai_compatible("https://models.example.test/v1")
        .api_key("test-key")
        .transport(Endless { piece, panics });
    config.connect("m").unwrap()
}

#[tokio::test]
async fn a_body_that_always_has_more_ends_at_the_deadline() {
    for piece in ["", ": a\n\n"] {
        let mut request = ModelRequest::new([Message::user("Hi")]);
        request.deadline = Some(crate::Deadline::after(std::time::Duration::from_millis(50)));
        let error = endless(piece, false).complete(request).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DeadlineExceeded, "{piece:?}");
    }
}

#[tokio::test]
async fn a_transport_that_panics_fails_its_request() {
    let request = ModelRequest::new([Message::user("Hi")]);
    let error = endless("", true).complete(request).await.unwrap_err();
    assert!(error.message().contains("panicked"), "{error}");
}
