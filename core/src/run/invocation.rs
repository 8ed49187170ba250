//! One application request in its standard shape.

use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::deadline::Deadline;
use crate::error::{Error, ErrorKind, Result};
use crate::message::{Content, Message, Role, kind_of};
use crate::prompt::TrustedPath;

/// One application request: a message and what the application knows about it.
#[derive(Clone, Debug)]
pub struct Invocation {
    message: Message,
    history: Vec<Message>,
    context: Map<String, Value>,
    settings: Map<String, Value>,
    metadata: Map<String, Value>,
    actor_id: Option<String>,
    run_id: String,
    invocation_id: String,
    session_id: String,
    deadline: Option<Deadline>,
    include_agent_events: Option<bool>,
    template_paths: Vec<TrustedPath>,
}

impl Invocation {
    /// A request that says `message`.
    ///
    /// # Errors
    /// [`ErrorKind::Invocation`] when the message is blank.
    pub fn new(message: impl Into<Message>) -> Result<Self> {
        let message = message.into();
        if message.is_blank() {
            return Err(blank());
        }
        Ok(Self::of(message))
    }

    /// What a part of the run is asked: the same request with these instead.
    pub(super) fn for_part(
        &self,
        message: Message,
        history: Vec<Message>,
        context: Map<String, Value>,
        settings: Map<String, Value>,
        deadline: Option<Deadline>,
    ) -> Self {
        Self {
            message,
            history,
            context,
            settings,
            metadata: self.metadata.clone(),
            actor_id: self.actor_id.clone(),
            run_id: self.run_id.clone(),
            invocation_id: self.invocation_id.clone(),
            session_id: self.session_id.clone(),
            deadline,
            include_agent_events: self.include_agent_events,
            template_paths: self.template_paths.clone(),
        }
    }

    fn of(message: Message) -> Self {
        let run_id = Uuid::new_v4().to_string();
        Self {
            message,
            history: Vec::new(),
            context: Map::new(),
            settings: Map::new(),
            metadata: Map::new(),
            actor_id: None,
            invocation_id: run_id.clone(),
            session_id: run_id.clone(),
            run_id,
            deadline: None,
            include_agent_events: None,
            template_paths: Vec::new(),
        }
    }

    /// Messages that precede this one.
    #[must_use]
    pub fn with_history(mut self, history: Vec<Message>) -> Self {
        self.history = history;
        self
    }

    /// Request values for tools; they also start the run's shared state.
    #[must_use]
    pub fn with_context(mut self, context: Map<String, Value>) -> Self {
        self.context = context;
        self
    }

    /// Model settings of this request; they win over every other setting.
    #[must_use]
    pub fn with_settings(mut self, settings: Map<String, Value>) -> Self {
        self.settings = settings;
        self
    }

    /// Application metadata.
    #[must_use]
    pub fn with_metadata(mut self, metadata: Map<String, Value>) -> Self {
        self.metadata = metadata;
        self
    }

    /// The authenticated actor. Never inferred.
    #[must_use]
    pub fn with_actor_id(mut self, actor_id: impl Into<String>) -> Self {
        self.actor_id = Some(actor_id.into());
        self
    }

    /// The conversation this request belongs to.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// When the run must end.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Deadline) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Looks for prompt templates in `paths` first.
    #[must_use]
    pub fn with_template_paths(mut self, paths: Vec<TrustedPath>) -> Self {
        self.template_paths = paths;
        self
    }

    /// Whether each event of an agent also comes as an `agent_stream` event that says whose it is.
    #[must_use]
    pub fn with_agent_events(mut self, include: bool) -> Self {
        self.include_agent_events = Some(include);
        self
    }

    /// Whether events of every agent were asked for.
    #[must_use]
    pub fn includes_agent_events(&self) -> bool {
        self.include_agent_events.unwrap_or_default()
    }

    /// What applies when the request does not say whether it wants events of every agent.
    pub(crate) fn default_agent_events(&mut self, include: bool) {
        self.include_agent_events.get_or_insert(include);
    }

    /// Reads the shape that hosts send. Keys that are not the engine's are ignored. With
    /// `without_message: true` there is no message.
    ///
    /// # Errors
    /// [`ErrorKind::Invocation`] for anything that is not a usable request.
    pub fn from_value(value: &Value) -> Result<Self> {
        let Value::Object(map) = value else {
            return Err(invalid(format!(
                "the payload must be an object, got {}",
                kind_of(value)
            )));
        };
        // An agent without a run may go on from its history alone, and a model request has
        // messages of its own.
        let mut invocation = if map.get("without_message") == Some(&Value::Bool(true)) {
            Self::of(Message::new(Role::User, Vec::new()))
        } else {
            Self::new(message_of(map.get("message"))?)?
        };
        if let Some(history) = map.get("history").filter(|value| !value.is_null()) {
            let Value::Array(entries) = history else {
                return Err(invalid(format!(
                    "history must be an array, got {}",
                    kind_of(history)
                )));
            };
            let read = |(place, entry)| {
                Message::from_value(entry).map_err(|problem| {
                    let told = format!("history[{place}]: {}", problem.message());
                    problem.with_message(told)
                })
            };
            invocation.history = entries
                .iter()
                .enumerate()
                .map(read)
                .collect::<Result<_>>()?;
        }
        invocation.context = object(map, "context")?;
        invocation.settings = object(map, "settings")?;
        invocation.metadata = object(map, "metadata")?;
        invocation.actor_id = text(map, "actor_id")?;
        if let Some(id) = text(map, "run_id")? {
            invocation.run_id = id;
        }
        let or_run_id = |id: Option<String>| id.unwrap_or_else(|| invocation.run_id.clone());
        let invocation_id = or_run_id(text(map, "invocation_id")?);
        let session_id = or_run_id(text(map, "session_id")?);
        invocation.invocation_id = invocation_id;
        invocation.session_id = session_id;
        if let Some(value) = map.get("deadline_at").filter(|value| !value.is_null()) {
            let deadline = value
                .as_f64()
                .and_then(Deadline::from_unix)
                .ok_or_else(|| {
                    invalid(format!(
                        "deadline_at must be seconds since the Unix epoch, got {value}"
                    ))
                })?;
            invocation.deadline = Some(deadline);
        }
        invocation.include_agent_events = match map.get("include_agent_events") {
            None | Some(Value::Null) => None,
            Some(Value::Bool(include)) => Some(*include),
            Some(other) => {
                return Err(invalid(format!(
                    "include_agent_events must be true or false, got {}",
                    kind_of(other)
                )));
            }
        };
        Ok(invocation)
    }

    /// The normalised request, with every identifier.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({
            "message": self.message.to_value(),
            "history": self.history.iter().map(Message::to_value).collect::<Vec<_>>(),
            "context": self.context,
            "settings": self.settings,
            "metadata": self.metadata,
            "actor_id": self.actor_id,
            "run_id": self.run_id,
            "invocation_id": self.invocation_id,
            "session_id": self.session_id,
            "deadline_at": self.deadline.map(|deadline| deadline.as_unix()),
        })
    }

    /// The current message.
    #[must_use]
    pub fn message(&self) -> &Message {
        &self.message
    }

    /// Messages that precede the current one.
    #[must_use]
    pub fn history(&self) -> &[Message] {
        &self.history
    }

    /// Request values for tools.
    #[must_use]
    pub fn context(&self) -> &Map<String, Value> {
        &self.context
    }

    /// Model settings of this request.
    #[must_use]
    pub fn settings(&self) -> &Map<String, Value> {
        &self.settings
    }

    /// Application metadata.
    #[must_use]
    pub fn metadata(&self) -> &Map<String, Value> {
        &self.metadata
    }

    /// The authenticated actor, when the application gave one.
    #[must_use]
    pub fn actor_id(&self) -> Option<&str> {
        self.actor_id.as_deref()
    }

    /// Identifier of the run.
    #[must_use]
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// Identifier of the invocation; the run's unless given.
    #[must_use]
    pub fn invocation_id(&self) -> &str {
        &self.invocation_id
    }

    /// Identifier of the conversation; the run's unless given.
    #[must_use]
    pub fn session_id(&self) -> &str {
        &self.session_id
    }

    /// Whether the conversation's identifier was made up for this run.
    pub(crate) fn is_session_generated(&self) -> bool {
        self.session_id == self.run_id
    }

    /// Folders of prompt templates that come first.
    #[must_use]
    pub fn template_paths(&self) -> &[TrustedPath] {
        &self.template_paths
    }

    /// When the run must end.
    #[must_use]
    pub fn deadline(&self) -> Option<Deadline> {
        self.deadline
    }
}

fn invalid(problem: String) -> Error {
    Error::new(ErrorKind::Invocation, format!("invalid request: {problem}"))
}

fn blank() -> Error {
    invalid("message is blank; pass the text, image or document the agent should answer".into())
}

fn message_of(value: Option<&Value>) -> Result<Message> {
    let usable =
        |result: Result<Message>| result.map_err(|problem| invalid(problem.message().to_owned()));
    match value {
        None | Some(Value::Null) => Err(blank()),
        Some(Value::String(text)) => Ok(Message::user(text.clone())),
        Some(value @ Value::Object(map)) if map.contains_key("role") => {
            usable(Message::from_value(value))
        }
        Some(Value::Array(blocks)) => usable(
            blocks
                .iter()
                .map(Content::from_value)
                .collect::<Result<_>>()
                .map(|content| Message::new(Role::User, content)),
        ),
        Some(Value::Object(map)) if map.is_empty() => Err(blank()),
        Some(block) => usable(
            Content::from_value(block).map(|content| Message::new(Role::User, vec![content])),
        ),
    }
}

fn object(map: &Map<String, Value>, key: &str) -> Result<Map<String, Value>> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(value)) => Ok(value.clone()),
        Some(other) => Err(invalid(format!(
            "{key} must be an object, got {}",
            kind_of(other)
        ))),
    }
}

/// An identifier: a non-empty string; null and empty count as absent.
fn text(map: &Map<String, Value>, key: &str) -> Result<Option<String>> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(value)) if value.is_empty() => Ok(None),
        Some(Value::String(value)) => Ok(Some(value.clone())),
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(other) => Err(invalid(format!(
            "{key} must be a string, got {}",
            kind_of(other)
        ))),
    }
}
