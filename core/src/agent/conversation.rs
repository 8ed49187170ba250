//! One invocation of an agent, as its features and its tools see it while it goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::interjection::Batch;
use super::{Interjections, PreparedAgent, Programs};
use crate::catalog::Prices;
use crate::code_mode::CONTROLS;
use crate::deadline::Deadline;
use crate::error::{Error, ErrorKind, Result};
use crate::message::{Message, Role, Usage};
use crate::model::{ModelRequest, ModelResponse};
use crate::panics::caught;
use crate::protocol::settings::overlay;
use crate::run::{EventSender, RunCore};
use crate::tool::RunContext;

/// What an agent is asked: the conversation so far and how to answer it.
#[derive(Clone, Debug, Default)]
pub(crate) struct AgentInput {
    /// Messages that precede the current one, without the agent's system message.
    pub(crate) history: Vec<Message>,
    /// The current message; without one the history is continued.
    pub(crate) message: Option<Message>,
    /// Settings of the request, above those of the agent.
    pub(crate) settings: Map<String, Value>,
    /// What the invocation is a part of.
    pub(crate) parent_operation_id: Option<Arc<str>>,
}

/// One invocation of an agent. Shared by its callbacks and its tool calls; the messages
/// themselves belong to the turn loop.
pub(crate) struct Conversation {
    pub(crate) run: Arc<RunCore>,
    pub(crate) agent: Arc<PreparedAgent>,
    /// Identifier of this invocation.
    pub(crate) operation_id: Arc<str>,
    /// What it is a part of.
    pub(crate) parent_operation_id: Arc<str>,
    /// Where its events go.
    pub(crate) events: EventSender,
    /// Where the events go of tool calls that its programs make.
    pub(crate) brokered_events: EventSender,
    /// Its programs, if its model writes any.
    pub(crate) programs: Option<Programs>,
    /// Messages that arrive meanwhile.
    pub(crate) interjections: Arc<Interjections>,
    settings: Map<String, Value>,
    tool_calls: AtomicUsize,
    prices: Option<Arc<Prices>>,
    /// Of the latest response.
    batch: AtomicUsize,
}

impl Conversation {
    pub(crate) fn new(run: &Arc<RunCore>, agent: Arc<PreparedAgent>, input: &AgentInput) -> Self {
        let operation_id: Arc<str> = Uuid::new_v4().to_string().into();
        let parent_operation_id = input
            .parent_operation_id
            .clone()
            .unwrap_or_else(|| run.operation_id.as_str().into());
        let mut settings = agent.limits.model_settings.clone();
        overlay(&mut settings, &input.settings);
        let events = run.events_of_agent(&agent.id, &operation_id, &parent_operation_id, input);
        Self {
            prices: Prices::of(&agent.model.details()).map(Arc::new),
            run: Arc::clone(run),
            programs: agent.code_mode.clone().map(Programs::new),
            events: match agent.code_mode {
                Some(_) => events.hiding(&CONTROLS),
                None => events.clone(),
            },
            brokered_events: events,
            agent,
            operation_id,
            parent_operation_id,
            interjections: Arc::default(),
            settings,
            tool_calls: AtomicUsize::new(0),
            batch: AtomicUsize::new(0),
        }
    }

    /// The conversation that `input` starts with, system message first.
    pub(crate) fn first_messages(&self, input: AgentInput) -> Vec<Message> {
        let mut messages = Vec::with_capacity(input.history.len() + 4);
        if let Some(prompt) = self
            .agent
            .system_prompt
            .as_deref()
            .filter(|prompt| !prompt.is_empty())
        {
            messages.push(Message::new(
                Role::System,
                vec![crate::message::Content::text(prompt)],
            ));
        }
        messages.extend(input.history);
        messages.extend(input.message);
        messages
    }

    /// A request of this invocation, with the agent's tools and settings.
    pub(crate) fn request(&self, messages: Arc<Vec<Message>>) -> ModelRequest {
        ModelRequest {
            messages,
            tools: Arc::clone(self.agent.tools.definitions()),
            settings: self.settings.clone(),
            deadline: self.deadline(),
            ..ModelRequest::default()
        }
    }

    /// Asks the agent's model aside from the conversation: no events, but the tokens count.
    pub(crate) async fn ask_aside(&self, request: &ModelRequest) -> Result<ModelResponse> {
        let events = self.events.counting();
        self.price();
        let response = caught("the model", self.agent.model.stream(request, &events)).await;
        self.run.account.count(response.as_ref().ok());
        response
    }

    /// Has tokens from now on counted by the prices of the agent's model.
    pub(crate) fn price(&self) {
        self.run.account.price_by(self.prices.clone());
    }

    /// Hands the model's response to everybody who waits for the interjections of its request.
    pub(crate) fn respond(&self, batch: &Batch, response: &ModelResponse) {
        self.interjections.respond(batch, response);
        for id in &batch.ids {
            self.run.notify(
                "agent_interjection_responded",
                json!({
                    "interjection_id": id, "event_kind": "interjection",
                    "operation_id": *self.operation_id,
                }),
            );
        }
    }

    /// Tells telemetry that something happened in this invocation.
    pub(crate) fn notify(&self, name: &'static str, mut attributes: Value) {
        if let Some(attributes) = attributes.as_object_mut() {
            attributes.insert("operation_id".into(), json!(*self.operation_id));
        }
        self.run.notify(name, attributes);
    }

    /// What callbacks of the whole invocation are given.
    pub(crate) fn context(self: &Arc<Self>) -> RunContext {
        RunContext::new(Arc::clone(self), "", Arc::clone(&self.operation_id), false)
    }

    /// Counts `calls` more tool calls, unless they would exceed the agent's limit.
    pub(crate) fn count_tool_calls(&self, calls: usize) -> Result<()> {
        self.batch.store(calls, Ordering::Relaxed);
        self.count_more_tool_calls(calls)
    }

    /// Counts a tool call that a program makes.
    pub(crate) fn count_tool_call_of_program(&self) -> Result<()> {
        self.count_more_tool_calls(1)
    }

    fn count_more_tool_calls(&self, calls: usize) -> Result<()> {
        let before = self.tool_calls.fetch_add(calls, Ordering::Relaxed);
        let limit = self.agent.limits.max_tool_calls;
        if before + calls > limit as usize {
            return Err(Error::new(
                ErrorKind::Protocol,
                format!("the model asked for more than {limit} tool calls (max_tool_calls)"),
            ));
        }
        Ok(())
    }

    /// Tool calls that the latest response asked for.
    pub(crate) fn calls_at_once(&self) -> usize {
        self.batch.load(Ordering::Relaxed)
    }

    pub(crate) fn deadline(&self) -> Option<Deadline> {
        self.run.invocation.deadline()
    }

    pub(crate) fn usage(&self) -> Usage {
        self.run.usage()
    }
}

impl std::fmt::Debug for Conversation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Conversation")
            .field("agent", &self.agent.id)
            .field("operation_id", &self.operation_id)
            .finish_non_exhaustive()
    }
}
