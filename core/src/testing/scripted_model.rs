//! A model that answers what a test says.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tokio::task::yield_now;
use tokio::time::sleep;

use super::turn::{Answer, Call, Kind, Turn};
use crate::agent::ModelSelection;
use crate::error::{Error, ErrorKind, Result};
use crate::event::StreamEvent;
use crate::message::{Content, Message, Reasoning, Role, ToolUse};
use crate::model::{Model, ModelCapabilities, ModelRequest, ModelResponse, StopReason};
use crate::run::EventSender;

/// The model's name, in events and in [`Model::target`].
const TARGET: &str = "testing:scripted";

/// A model without a server: it answers each request with the next turn of a script, and keeps
/// the requests.
///
/// Clones share the script, so one stays with the test while another is an agent's model.
///
/// ```
/// use little_ghost::Agent;
/// use little_ghost::testing::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> little_ghost::Result<()> {
/// let model = ScriptedModel::new(["Hello!"]);
/// let agent = Agent::builder("greeter").model(model.clone()).build()?;
///
/// let run = agent.ask("Hi").await?;
/// assert_eq!(run.response(), "Hello!");
/// let requests = model.requests();
/// assert_eq!(requests[0].messages[0].text(), "Hi");
/// model.verify()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ScriptedModel(Arc<Shared>);

struct Shared {
    turns: Vec<Turn>,
    repeats: bool,
    capabilities: ModelCapabilities,
    progress: Mutex<Progress>,
}

#[derive(Default)]
struct Progress {
    requests: Vec<ModelRequest>,
    calls: usize,
}

impl ScriptedModel {
    /// A model that answers with `turns`, one for each request.
    pub fn new<T: Into<Turn>>(turns: impl IntoIterator<Item = T>) -> Self {
        Self::with(
            turns.into_iter().map(Into::into).collect(),
            false,
            ModelCapabilities::permissive(),
        )
    }

    fn with(turns: Vec<Turn>, repeats: bool, capabilities: ModelCapabilities) -> Self {
        Self(Arc::new(Shared {
            turns,
            repeats,
            capabilities,
            progress: Mutex::default(),
        }))
    }

    /// A model with this script whose last turn answers any number of further requests.
    #[must_use]
    pub fn repeating(&self) -> Self {
        Self::with(self.0.turns.clone(), true, self.0.capabilities.clone())
    }

    /// A model with this script and other capabilities; by default it can do everything.
    #[must_use]
    pub fn capable_of(&self, capabilities: ModelCapabilities) -> Self {
        Self::with(self.0.turns.clone(), self.0.repeats, capabilities)
    }

    /// Every request so far, in order, those beyond the script included.
    #[must_use]
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.0.progress.lock().requests.clone()
    }

    /// Checks that the model was asked as often as the script says.
    ///
    /// # Errors
    /// [`ErrorKind::Error`] when turns are left, or when a request found none.
    pub fn verify(&self) -> Result<()> {
        let turns = self.0.turns.len();
        let (asked, last) = {
            let progress = self.0.progress.lock();
            let requests = &progress.requests;
            (requests.len(), requests.last().cloned())
        };
        if asked > turns && !self.0.repeats {
            return Err(exhausted(asked, turns, last.as_ref()));
        }
        if asked < turns {
            return Err(Error::new(
                ErrorKind::Error,
                format!(
                    "the scripted model was asked {}, but its script has {}: turn {} was never \
                     needed",
                    count(asked, "time"),
                    count(turns, "turn"),
                    asked + 1
                ),
            ));
        }
        Ok(())
    }

    /// Keeps the request and finds its turn.
    fn take(&self, request: &ModelRequest) -> Result<Turn> {
        let asked = {
            let mut progress = self.0.progress.lock();
            progress.requests.push(request.clone());
            progress.requests.len()
        };
        let turns = &self.0.turns;
        let turn = turns.get(asked - 1).or_else(|| {
            let last = turns.last();
            last.filter(|_| self.0.repeats)
        });
        turn.cloned()
            .ok_or_else(|| exhausted(asked, turns.len(), Some(request)))
    }

    fn tool_use(&self, call: Call) -> ToolUse {
        let id = call.id.unwrap_or_else(|| {
            let mut progress = self.0.progress.lock();
            progress.calls += 1;
            format!("call_{}", progress.calls)
        });
        ToolUse {
            id,
            name: call.name,
            input: call.input,
        }
    }

    async fn play(&self, answer: Answer, events: &EventSender) -> Result<ModelResponse> {
        if !answer.delay.is_zero() {
            sleep(answer.delay).await;
        }
        let id = format!("scripted_{}", self.0.progress.lock().requests.len());
        let reasoning = answer.reasoning.concat();
        let text = answer.text.concat();
        let uses: Vec<ToolUse> = answer
            .calls
            .into_iter()
            .map(|call| self.tool_use(call))
            .collect();
        let silent = reasoning.is_empty() && text.is_empty() && uses.is_empty();
        if let Some(failure) = answer.failure.as_ref().filter(|_| silent) {
            return Err(failure.clone());
        }
        events
            .send(StreamEvent::MessageStart {
                id: Some(id.clone()),
                model: self.model_id().to_owned(),
            })
            .await;
        let pieces = answer
            .reasoning
            .into_iter()
            .map(|text| StreamEvent::ReasoningDelta { text })
            .chain(
                answer
                    .text
                    .into_iter()
                    .map(|text| StreamEvent::TextDelta { text }),
            );
        for (position, piece) in pieces.enumerate() {
            if position > 0 && !answer.pause.is_zero() {
                sleep(answer.pause).await;
            }
            events.send(piece).await;
        }
        for (index, tool_use) in (0_u32..).zip(&uses) {
            send_call(index, tool_use, events).await;
        }
        if let Some(usage) = answer.usage {
            events.send(StreamEvent::Usage { usage }).await;
        }
        if let Some(failure) = answer.failure {
            return Err(failure);
        }
        let stop_reason = answer.stop_reason.unwrap_or(if uses.is_empty() {
            StopReason::EndTurn
        } else {
            StopReason::ToolUse
        });
        let mut content = Vec::new();
        if !reasoning.is_empty() {
            content.push(Content::Reasoning(Reasoning {
                text: reasoning,
                ..Reasoning::default()
            }));
        }
        if !text.is_empty() {
            content.push(Content::Text(text));
        }
        content.extend(uses.into_iter().map(Content::ToolUse));
        let mut metadata = Map::new();
        metadata.insert("id".into(), json!(id));
        metadata.insert("model".into(), json!(self.model_id()));
        Ok(ModelResponse {
            message: Message::new(Role::Assistant, content),
            stop_reason,
            usage: answer.usage.unwrap_or_default(),
            metadata,
        })
    }
}

async fn send_call(index: u32, tool_use: &ToolUse, events: &EventSender) {
    let (id, name) = (tool_use.id.clone(), tool_use.name.clone());
    events
        .send(StreamEvent::ToolCallStart { index, id, name })
        .await;
    let arguments = Value::Object(tool_use.input.clone()).to_string();
    events
        .send(StreamEvent::ToolCallDelta { index, arguments })
        .await;
    let tool_use = Arc::new(tool_use.clone());
    events
        .send(StreamEvent::ToolCallStop { index, tool_use })
        .await;
}

fn exhausted(asked: usize, turns: usize, request: Option<&ModelRequest>) -> Error {
    let last = request.and_then(|request| request.messages.last());
    let about = last.map_or_else(String::new, |message| {
        let text = crate::http::shorten(&described(message), 200);
        format!("; the request ends with {} {text}", message.role.as_str())
    });
    Error::new(
        ErrorKind::Error,
        format!(
            "the scripted model was asked {}, but its script has only {}{about}",
            count(asked, "time"),
            count(turns, "turn")
        ),
    )
}

/// A message in a few words.
fn described(message: &Message) -> String {
    let results = message.content.iter().filter_map(|block| match block {
        Content::ToolResult(result) => Some(result.content.text()),
        Content::ToolUse(call) => Some(format!("a call of {}", call.name)),
        _ => None,
    });
    let parts: Vec<String> = results.collect();
    if parts.is_empty() {
        format!("{:?}", message.text())
    } else {
        format!("{:?}", parts.join(", "))
    }
}

pub(super) fn count(number: usize, what: &str) -> String {
    if number == 1 {
        format!("1 {what}")
    } else {
        format!("{number} {what}s")
    }
}

#[async_trait]
impl Model for ScriptedModel {
    fn target(&self) -> &str {
        TARGET
    }

    fn capabilities(&self) -> ModelCapabilities {
        self.0.capabilities.clone()
    }

    async fn stream(&self, request: &ModelRequest, events: &EventSender) -> Result<ModelResponse> {
        let mut turn = self.take(request)?;
        loop {
            turn = match turn.0 {
                Kind::Answer(answer) => return self.play(*answer, events).await,
                Kind::Function(function) => {
                    let made = function(request.clone()).await?;
                    // A function that makes functions without end can be cancelled.
                    yield_now().await;
                    made
                }
            };
        }
    }
}

impl From<ScriptedModel> for Arc<dyn Model> {
    fn from(model: ScriptedModel) -> Self {
        Arc::new(model)
    }
}

impl From<ScriptedModel> for ModelSelection {
    fn from(model: ScriptedModel) -> Self {
        ModelSelection::Model(Arc::new(model))
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ScriptedModel")
            .field("turns", &self.0.turns)
            .field("asked", &self.0.progress.lock().requests.len())
            .finish_non_exhaustive()
    }
}
