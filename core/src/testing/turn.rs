//! One answer of a scripted model.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::message::Usage;
use crate::model::{ModelRequest, StopReason};

/// One answer of a [`ScriptedModel`](super::ScriptedModel): text, reasoning, tool calls, a
/// failure, or a function that makes one of these from the request.
///
/// A plain string is an answer with that text. Parts are sent in this order, whatever the order in which
/// they were added: reasoning, text, tool calls, usage, failure.
///
/// ```
/// use little_ghost::testing::Turn;
/// use serde_json::json;
///
/// let turn = Turn::chunks(["Let me ", "look."]).call("lookup", json!({"topic": "refunds"}));
/// ```
#[derive(Clone)]
pub struct Turn(pub(super) Kind);

#[derive(Clone)]
pub(super) enum Kind {
    Answer(Box<Answer>),
    Function(Function),
}

type Made = Pin<Box<dyn Future<Output = Result<Turn>> + Send>>;
type Function = Arc<dyn Fn(ModelRequest) -> Made + Send + Sync>;

/// What is sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    pub(super) reasoning: Vec<String>,
    pub(super) text: Vec<String>,
    pub(super) calls: Vec<Call>,
    pub(super) usage: Option<Usage>,
    pub(super) stop_reason: Option<StopReason>,
    pub(super) delay: Duration,
    pub(super) pause: Duration,
    pub(super) failure: Option<Error>,
}

/// One tool call; without an id it gets the next of `call_1`, `call_2` and so on.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) id: Option<String>,
    pub(super) name: String,
    pub(super) input: Map<String, Value>,
}

impl Turn {
    /// An answer that says nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self(Kind::Answer(Box::default()))
    }

    /// An answer with `text`, in one piece.
    pub fn text(text: impl Into<String>) -> Self {
        Self::chunks([text])
    }

    /// An answer whose text arrives in pieces.
    pub fn chunks<T: Into<String>>(pieces: impl IntoIterator<Item = T>) -> Self {
        Self::new().with(|answer| answer.text.extend(pieces.into_iter().map(Into::into)))
    }

    /// An answer whose text is `value` as JSON, for structured results.
    #[must_use]
    pub fn json(value: &Value) -> Self {
        Self::text(value.to_string())
    }

    /// An answer that calls the tool `name`. Anything but an object counts as no input.
    pub fn tool(name: impl Into<String>, input: Value) -> Self {
        Self::new().call(name, input)
    }

    /// A failure: the model call raises `error`. The agent does not try again: retries belong to
    /// HTTP connections, see [`Faults`](super::Faults).
    #[must_use]
    pub fn error(error: Error) -> Self {
        Self::new().fail(error)
    }

    /// An answer that depends on the request.
    pub fn function<F>(function: F) -> Self
    where
        F: Fn(&ModelRequest) -> Turn + Send + Sync + 'static,
    {
        Self::future(move |request| {
            let turn = function(&request);
            async move { Ok(turn) }
        })
    }

    /// An answer that depends on the request and takes a while to find.
    pub fn future<F, R>(function: F) -> Self
    where
        F: Fn(ModelRequest) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Turn>> + Send + 'static,
    {
        Self(Kind::Function(Arc::new(move |request| {
            Box::pin(function(request))
        })))
    }

    /// Adds a call of the tool `name`; its id is the next of `call_1`, `call_2` and so on.
    #[must_use]
    pub fn call(self, name: impl Into<String>, input: Value) -> Self {
        self.add_call(None, name.into(), input)
    }

    /// Adds a call of the tool `name` with an id of its own.
    #[must_use]
    pub fn call_with_id(
        self,
        id: impl Into<String>,
        name: impl Into<String>,
        input: Value,
    ) -> Self {
        self.add_call(Some(id.into()), name.into(), input)
    }

    fn add_call(self, id: Option<String>, name: String, input: Value) -> Self {
        let input = match input {
            Value::Object(input) => input,
            _ => Map::new(),
        };
        self.with(|answer| answer.calls.push(Call { id, name, input }))
    }

    /// Adds a piece of visible reasoning.
    #[must_use]
    pub fn reasoning(self, text: impl Into<String>) -> Self {
        self.with(|answer| answer.reasoning.push(text.into()))
    }

    /// Sets the token counts. Without them nothing is counted.
    #[must_use]
    pub fn usage(self, usage: Usage) -> Self {
        self.with(|answer| answer.usage = Some(usage))
    }

    /// Sets why the model stopped; by default `ToolUse` with tool calls and `EndTurn` without.
    #[must_use]
    pub fn stop_reason(self, reason: StopReason) -> Self {
        self.with(|answer| answer.stop_reason = Some(reason))
    }

    /// Waits before the answer begins. A cancelled or late run does not wait to the end.
    #[must_use]
    pub fn delay(self, delay: Duration) -> Self {
        self.with(|answer| answer.delay = delay)
    }

    /// Waits between pieces of text and reasoning.
    #[must_use]
    pub fn pause(self, pause: Duration) -> Self {
        self.with(|answer| answer.pause = pause)
    }

    /// Fails with `error` once everything else was sent.
    #[must_use]
    pub fn fail(self, error: Error) -> Self {
        self.with(|answer| answer.failure = Some(error))
    }

    /// Changes the answer; a function has none to change.
    pub(super) fn with(mut self, change: impl FnOnce(&mut Answer)) -> Self {
        if let Kind::Answer(answer) = &mut self.0 {
            change(answer);
        }
        self
    }
}

impl Default for Turn {
    fn default() -> Self {
        Self::new()
    }
}

impl From<&str> for Turn {
    fn from(text: &str) -> Self {
        Turn::text(text)
    }
}

impl From<String> for Turn {
    fn from(text: String) -> Self {
        Turn::text(text)
    }
}

impl From<Error> for Turn {
    fn from(error: Error) -> Self {
        Turn::error(error)
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Answer(answer) => answer.fmt(formatter),
            Kind::Function(_) => formatter.write_str("Function"),
        }
    }
}
