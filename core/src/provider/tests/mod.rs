mod anthropic;
mod bedrock;
mod catalog;
mod credentials;
mod failures;
mod gemini;
mod openrouter;
mod resolution;
mod retries;
mod server;
mod service_lists;
mod streaming;
mod transport;

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Api, ModelResolver, ProviderConfig, ResolvedModel};
use crate::error::Result;
use crate::event::StreamEvent;
use crate::message::Message;
use crate::model::{Model, ModelRequest, ModelResponse};
use crate::run::{EventSender, Item, Outbox};

/// A Chat Completions connection to a server of a test, with quick retries.
fn local(base_url: &str) -> ProviderConfig {
    ProviderConfig::openai_compatible(base_url)
        .api(Api::ChatCompletions)
        .option("max_retry_delay", 0.01)
}

fn model(config: ProviderConfig) -> Arc<ResolvedModel> {
    let resolver = ModelResolver::builder()
        .provider("primary", config)
        .build()
        .unwrap();
    resolver.resolve_name("primary:test-model").unwrap()
}

fn question() -> ModelRequest {
    ModelRequest {
        messages: vec![Message::user("Hi")].into(),
        ..ModelRequest::default()
    }
}

struct Asked {
    events: Vec<StreamEvent>,
    outcome: Result<ModelResponse>,
}

impl Asked {
    fn kinds(&self) -> Vec<&'static str> {
        self.events.iter().map(StreamEvent::kind).collect()
    }

    fn retries(&self) -> Vec<Value> {
        self.events
            .iter()
            .filter(|event| event.kind() == "model_retry")
            .map(StreamEvent::data)
            .collect()
    }
}

async fn ask(model: &dyn Model, request: &ModelRequest) -> Asked {
    ask_watched(model, request, |_| {}).await
}

/// As [`ask`], showing each event to `watch` as it arrives.
async fn ask_watched(
    model: &dyn Model,
    request: &ModelRequest,
    mut watch: impl FnMut(&StreamEvent),
) -> Asked {
    let outbox = Outbox::for_task();
    let sender = EventSender::new(Arc::clone(&outbox));
    let mut events = Vec::new();
    let mut take = |item| match item {
        Item::Event(event) => {
            watch(&event);
            events.push(event);
        }
        other => panic!("unexpected {other:?}"),
    };
    let mut call = pin!(model.stream(request, &sender));
    let outcome = loop {
        tokio::select! {
            biased;
            item = poll_fn(|context| outbox.poll_next(context)) => take(item),
            outcome = &mut call => break outcome,
        }
    };
    outbox.drain().into_iter().for_each(take);
    Asked { events, outcome }
}

fn chunk(content: &str) -> Value {
    json!({"id": "c1", "model": "m", "choices": [{"index": 0, "delta": {"content": content}}]})
}

fn last_chunk() -> Value {
    json!({"id": "c1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2}})
}
