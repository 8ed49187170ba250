//! Agents for Rust callers.

use std::sync::Arc;

use super::definition::Definition;
use super::{AgentBuilder, AskOptions, ModelSelection};
use crate::assembly::{AgentAssembly, Assembly, new_run};
use crate::error::Result;
use crate::event::StreamEvent;
use crate::run::{Entrypoint, Execution, InvocationStream, Run, RunCore, RunStream, Scope};
use crate::runtime::Runtime;
use crate::session::Session;
use crate::tool::Tool;

/// One reusable model-driven behaviour: a model, instructions and tools.
///
/// Cheap to clone, and any number of calls may run at once.
///
/// ```no_run
/// use little_ghost::Agent;
///
/// # async fn example() -> little_ghost::Result<()> {
/// let support = Agent::builder("customer_support")
///     .model("openrouter:openai/gpt-5.6-luna")
///     .system_prompt("Answer customer questions clearly and concisely.")
///     .build()?;
/// let run = support.ask("Can I change the address on my order?").await?;
/// println!("{}", run.response());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Agent {
    pub(super) definition: Arc<Definition>,
    pub(super) runtime: Option<Arc<Runtime>>,
}

impl Agent {
    /// Starts an agent whose identifier, used in events and telemetry, is `id`.
    pub fn builder(id: impl Into<String>) -> AgentBuilder {
        AgentBuilder::of(id.into())
    }

    /// The agent's identifier.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.definition.id
    }

    /// What the agent is for.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.definition.description
    }

    /// The same agent on another runtime.
    #[must_use]
    pub fn with_runtime(&self, runtime: Arc<Runtime>) -> Self {
        Self {
            definition: Arc::clone(&self.definition),
            runtime: Some(runtime),
        }
    }

    /// Answers `request` and returns the ended run, whatever its outcome.
    ///
    /// # Errors
    /// [`Invocation`](crate::ErrorKind::Invocation) for an unusable request and
    /// [`Configuration`](crate::ErrorKind::Configuration) for an unusable runtime, before a run exists; a
    /// failure to close a resource afterwards. A failure of the model or the agent is not an
    /// error here: see [`Run::error`] and [`Run::into_completed`].
    pub async fn ask(&self, request: impl Into<AskOptions>) -> Result<Run> {
        self.stream_ask(request)?.run_to_end().await
    }

    /// Answers `request` as a stream of events. Nothing happens before the first poll.
    ///
    /// # Errors
    /// As [`Agent::ask`], before a run exists.
    pub fn stream_ask(&self, request: impl Into<AskOptions>) -> Result<RunStream> {
        let core = self.core(request.into())?;
        core.use_session(Session::of_invocation(
            &core.invocation,
            Arc::clone(core.runtime.session_store()),
        ));
        Ok(RunStream::new(core, self.entrypoint(), Scope::Run))
    }

    /// Answers `request` in the background, at once. `on_event` gets each event as it happens.
    ///
    /// # Errors
    /// As [`Agent::ask`], before a run exists, and when the work cannot be started.
    pub fn start_execution(
        &self,
        request: impl Into<AskOptions>,
        on_event: impl FnMut(StreamEvent) + Send + 'static,
    ) -> Result<Execution> {
        Execution::start(self.stream_ask(request)?, on_event)
    }

    /// Answers `request` without a run around it, as one step of a larger work of the caller: its
    /// session is not touched, and only the agent's own events come.
    ///
    /// # Errors
    /// As [`Agent::ask`], before anything is sent.
    pub fn stream(&self, request: impl Into<AskOptions>) -> Result<InvocationStream> {
        let core = self.core(request.into())?;
        let stream = RunStream::new(core, self.entrypoint(), Scope::Agent);
        Ok(InvocationStream::new(stream))
    }

    fn core(&self, options: AskOptions) -> Result<Arc<RunCore>> {
        new_run(
            self.runtime.as_ref(),
            options.invocation?,
            options.cancellation_token,
        )
    }

    /// The agent as a participant of an assembly.
    pub(crate) fn assembly(&self) -> Arc<dyn Assembly> {
        Arc::new(self.agent_assembly())
    }

    pub(crate) fn agent_assembly(&self) -> AgentAssembly {
        AgentAssembly {
            id: Arc::clone(&self.definition.id),
            description: self.definition.description.clone(),
            entrypoint: self.entrypoint(),
        }
    }

    /// The same agent with another model or other tools.
    pub(crate) fn with_overrides(
        &self,
        model: Option<ModelSelection>,
        tools: Option<Vec<Arc<dyn Tool>>>,
    ) -> Self {
        if model.is_none() && tools.is_none() {
            return self.clone();
        }
        let mut definition = Definition::clone(&self.definition);
        if let Some(model) = model {
            definition.model = model;
        }
        if let Some(tools) = tools {
            definition.tools = tools;
            definition.providers.clear();
        }
        Self {
            definition: Arc::new(definition),
            runtime: self.runtime.clone(),
        }
    }

    pub(crate) fn entrypoint(&self) -> Arc<dyn Entrypoint> {
        Arc::clone(&self.definition) as Arc<dyn Entrypoint>
    }
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Agent")
            .field("id", &self.id())
            .finish_non_exhaustive()
    }
}
