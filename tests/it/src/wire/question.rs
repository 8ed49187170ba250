//! One request to a model, and all that came back.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use futures_util::StreamExt;
use little_ghost::provider::ResolvedModel;
use little_ghost::{
    Agent, Error, EventSender, Message, Model, ModelRequest, ModelResponse, Result, StopReason,
    Usage, async_trait,
};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use super::case::{Case, Request};
use super::connection;

/// What one request led to.
pub struct Asked {
    /// `[kind, data]` of every event of the model, in order.
    pub events: Vec<(String, Value)>,
    /// The response, or what went wrong.
    pub outcome: Result<ModelResponse>,
    /// What the service could not be told of the result schema.
    pub dropped: Vec<String>,
}

/// Puts the request of `case` to its model.
pub async fn ask(case: &Case, base_url: &str) -> Asked {
    let (model, request) = match prepared(case, base_url) {
        Ok(prepared) => prepared,
        Err(error) => {
            return Asked {
                events: Vec::new(),
                outcome: Err(error),
                dropped: Vec::new(),
            };
        }
    };
    let schema = request.output_schema.as_ref();
    let dropped = schema.map(|schema| model.unsupported_schema(&schema.schema));
    let question = Arc::new(Question {
        model,
        request,
        outcome: Mutex::default(),
    });
    let events = events(&question).await;
    let outcome = question.outcome.lock().take();
    Asked {
        events,
        outcome: outcome.unwrap_or_else(|| panic!("{}: the model panicked", case.name)),
        dropped: dropped.unwrap_or_default(),
    }
}

fn prepared(case: &Case, base_url: &str) -> Result<(Arc<ResolvedModel>, ModelRequest)> {
    let model = connection::model(case, base_url)?;
    Ok((model, ModelRequest::from_value(&value(&case.tape.request))?))
}

fn value(request: &Request) -> Value {
    let mut map = Map::from_iter([("messages".to_owned(), request.messages.clone())]);
    for (key, value) in [
        ("tools", &request.tools),
        ("settings", &request.settings),
        ("output_schema", &request.output_schema),
        ("tool_choice", &request.tool_choice),
    ] {
        if let Some(value) = value {
            map.insert(key.to_owned(), value.clone());
        }
    }
    if let Some(seconds) = request.deadline_in {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        map.insert("deadline_at".into(), json!(now.as_secs_f64() + seconds));
    }
    Value::Object(map)
}

/// What the model tells an agent between the start and the end of its answer.
async fn events(question: &Arc<Question>) -> Vec<(String, Value)> {
    let model: Arc<dyn Model> = Arc::clone(question) as Arc<dyn Model>;
    let agent = Agent::builder("wire").model(model).build().unwrap();
    let mut stream = agent.stream_ask("ask").unwrap();
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        if matches!(
            event.kind(),
            "message_start"
                | "text_delta"
                | "reasoning_delta"
                | "tool_call_start"
                | "tool_call_delta"
                | "tool_call_stop"
                | "usage"
                | "model_retry"
        ) {
            events.push((event.kind().to_owned(), event.data()));
        }
    }
    events
}

/// A model that asks another one what the case asks, whatever it is asked itself, and ends the run.
struct Question {
    model: Arc<ResolvedModel>,
    request: ModelRequest,
    outcome: Mutex<Option<Result<ModelResponse>>>,
}

#[async_trait]
impl Model for Question {
    fn target(&self) -> &str {
        self.model.target()
    }

    async fn stream(&self, _: &ModelRequest, events: &EventSender) -> Result<ModelResponse> {
        let outcome = self.model.stream(&self.request, events).await;
        let ended = outcome.as_ref().map(|_| ()).map_err(Error::clone);
        *self.outcome.lock() = Some(outcome);
        ended.map(|()| ModelResponse {
            message: Message::assistant("Asked."),
            stop_reason: StopReason::EndTurn,
            usage: Usage::default(),
            metadata: Map::new(),
        })
    }
}
