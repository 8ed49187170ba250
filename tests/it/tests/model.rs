//! A model of the application's own behind the agent loop.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::sync::Arc;

use it::{Server, runtime};
use little_ghost::{
    Agent, Error, ErrorKind, EventSender, Message, Model, ModelRequest, ModelResponse, Outcome,
    Result, StopReason, StreamEvent, Usage, async_trait,
};
use serde_json::Map;

/// Repeats the last message; fails on request.
struct Parrot;

#[async_trait]
impl Model for Parrot {
    fn target(&self) -> &str {
        "own:parrot"
    }

    async fn stream(&self, request: &ModelRequest, events: &EventSender) -> Result<ModelResponse> {
        let text = request.messages.last().unwrap().text();
        if text == "fail" {
            return Err(Error::new(ErrorKind::Provider, "no seeds"));
        }
        if text == "panic" {
            panic!("secret");
        }
        let start = StreamEvent::MessageStart {
            id: None,
            model: "parrot".into(),
        };
        events.send(start).await;
        events
            .send(StreamEvent::TextDelta { text: text.clone() })
            .await;
        let usage = Usage {
            input_tokens: 3,
            output_tokens: 1,
            ..Usage::default()
        };
        events.send(StreamEvent::Usage { usage }).await;
        Ok(ModelResponse {
            message: Message::assistant(text),
            stop_reason: StopReason::EndTurn,
            usage,
            metadata: Map::new(),
        })
    }
}

async fn parrot() -> Agent {
    // The runtime is not asked for a model, and the server not for an answer.
    let scenario = Server::shared().scenario(&[]).await;
    let model: Arc<dyn Model> = Arc::new(Parrot);
    Agent::builder("parrot")
        .model(model)
        .runtime(runtime(&scenario))
        .build()
        .unwrap()
}

#[tokio::test]
async fn answers() {
    let run = parrot().await.ask("Hello").await.unwrap();
    assert_eq!(run.outcome(), Some(Outcome::Completed));
    assert_eq!(run.response(), "Hello");
    assert_eq!(run.usage().total_tokens(), 4);
}

#[tokio::test]
async fn fails() {
    let run = parrot().await.ask("fail").await.unwrap();
    assert_eq!(run.outcome(), Some(Outcome::Failed));
    assert_eq!(run.error().unwrap().message(), "no seeds");
    assert_eq!(
        run.into_completed().unwrap_err().kind(),
        ErrorKind::Provider
    );
}

#[tokio::test]
async fn a_panic_fails_the_run_and_not_the_process() {
    let run = parrot().await.ask("panic").await.unwrap();
    assert_eq!(run.outcome(), Some(Outcome::Failed));
    assert!(!run.error().unwrap().message().contains("secret"));
}
