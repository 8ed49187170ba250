//! Assemblies as tools of an agent.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use tokio::sync::Mutex;

use super::{Assembly, Participant};
use crate::error::Result;
use crate::message::{Message, Role};
use crate::run::{Request, Run};
use crate::tool::{RunContext, Tool, ToolDefinition, ToolProvider};

/// An agent or another assembly that a model may ask as a tool, with `{"input": "..."}`.
///
/// It answers in a part of the run: it starts with a copy of the calling tool's working state, shares deadline,
/// cancellation and request settings, and its tokens count. Its text reaches the caller's model only.
///
/// ```no_run
/// use little_ghost::{Agent, AssemblyTool};
///
/// # fn example(investigate: Agent) -> little_ghost::Result<Agent> {
/// let coordinator = Agent::builder("coordinator")
///     .tool_provider(AssemblyTool::new(&investigate).named("investigate_support_request"))
///     .build()?;
/// # Ok(coordinator)
/// # }
/// ```
#[derive(Clone)]
pub struct AssemblyTool {
    assembly: Arc<dyn Assembly>,
    name: String,
    description: String,
    preserves_context: bool,
}

impl AssemblyTool {
    /// Offers `participant` under its own identifier.
    pub fn new(participant: impl Into<Participant>) -> Self {
        let assembly = participant.into().0;
        let name = assembly.id().to_string();
        let description = match assembly.description() {
            "" => format!("Delegate a task to {name} and get its answer."),
            own => own.to_owned(),
        };
        Self {
            assembly,
            name,
            description,
            preserves_context: false,
        }
    }

    /// Names the tool.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Says what the tool is for.
    #[must_use]
    pub fn describe(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Has each call of a run go on from the conversation of the one before, one after the other. This is about
    /// messages only: every call gets the current working state.
    #[must_use]
    pub fn preserve_context(mut self) -> Self {
        self.preserves_context = true;
        self
    }

    /// The tool for one run.
    pub(crate) fn open(&self) -> Result<Arc<dyn Tool>> {
        let schema = json!({
            "type": "object", "additionalProperties": false, "required": ["input"],
            "properties": {"input": {"type": "string", "description": "What it is asked."}},
        });
        Ok(Arc::new(Open {
            definition: ToolDefinition::new(&*self.name, &*self.description, schema)?,
            assembly: Arc::clone(&self.assembly),
            history: self.preserves_context.then(Mutex::default),
        }))
    }
}

impl std::fmt::Debug for AssemblyTool {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("AssemblyTool")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl ToolProvider for AssemblyTool {
    async fn tools(&self, _run: &Run) -> Result<Vec<Arc<dyn Tool>>> {
        Ok(vec![self.open()?])
    }
}

/// The tool in one run.
struct Open {
    definition: ToolDefinition,
    assembly: Arc<dyn Assembly>,
    /// What was said so far, where it is kept. Held during a call: the next one goes on from its end.
    history: Option<Mutex<Vec<Message>>>,
}

#[async_trait]
impl Tool for Open {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: Map<String, Value>, context: &RunContext) -> Result<Value> {
        let mut kept = match &self.history {
            Some(history) => Some(history.lock().await),
            None => None,
        };
        let conversation = context.conversation();
        let around = &conversation.run;
        let text = input
            .get("input")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let request = Request {
            message: Message::from(text),
            history: kept.as_deref().cloned().unwrap_or_default(),
            context: context.with_state(|state| state.clone()),
            settings: around.invocation.settings().clone(),
            deadline: None,
        };
        let mut place = around.place.aside(&conversation.agent.locals);
        place.is_crowded |= context.is_concurrent();
        let part = around.part(request, place);
        let answered = super::answer(&self.assembly, &part, &conversation.operation_id).await;
        if let Some(problem) = part.resources.close().await {
            return Err(problem);
        }
        let result = answered?;
        if let Some(kept) = &mut kept {
            let said = result.messages.iter();
            **kept = said
                .filter(|message| message.role != Role::System)
                .cloned()
                .collect();
        }
        Ok(result.output())
    }
}
