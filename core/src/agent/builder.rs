//! Agents for Rust callers.

use std::sync::Arc;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::instructions::Instructions;
#[cfg(feature = "prompts")]
use super::instructions::{PromptLocal, local_value};
use super::prepared::{PreparedAgent, ToolSet};
use super::{
    CallbackChain, Callbacks, ContextManagement, Features, Limits, ModelSelection, ResultSchema,
    ToolLoop,
};
use crate::error::{Error, Result};
use crate::message::Message;
use crate::run::{Entrypoint, Invocation, Outbox, Run, RunCore, RunStream};
use crate::runtime::Runtime;
use crate::session::Session;
use crate::tool::IntoTool;

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
    definition: Arc<Definition>,
    runtime: Option<Arc<Runtime>>,
}

struct Definition {
    id: Arc<str>,
    description: String,
    model: ModelSelection,
    instructions: Instructions,
    tools: ToolSet,
    limits: Limits,
    callbacks: Vec<Arc<dyn Callbacks>>,
    features: Features,
    capture_diagnostics: bool,
}

/// Collects what an [`Agent`] is made of.
#[derive(Default)]
#[must_use = "a builder does nothing until it is built"]
pub struct AgentBuilder {
    id: String,
    description: String,
    model: ModelSelection,
    instructions: Instructions,
    tools: Vec<Result<Arc<dyn crate::tool::Tool>>>,
    limits: Limits,
    callbacks: Vec<Arc<dyn Callbacks>>,
    features: Features,
    omit_diagnostics: bool,
    runtime: Option<Arc<Runtime>>,
}

/// A request and how it is controlled. A plain message converts into one.
#[derive(Clone, Debug)]
pub struct AskOptions {
    invocation: Result<Invocation>,
    cancellation_token: Option<CancellationToken>,
}

impl AskOptions {
    /// Stops the run when `token` is cancelled.
    #[must_use]
    pub fn with_cancellation_token(mut self, token: CancellationToken) -> Self {
        self.cancellation_token = Some(token);
        self
    }

    /// Continues the conversation `session_id` of the runtime's session store, or begins it.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.invocation = self
            .invocation
            .map(|invocation| invocation.with_session_id(session_id));
        self
    }

    /// Who asks, as the application authenticated it. A conversation belongs to the actor that began it.
    #[must_use]
    pub fn with_actor_id(mut self, actor_id: impl Into<String>) -> Self {
        self.invocation = self
            .invocation
            .map(|invocation| invocation.with_actor_id(actor_id));
        self
    }
}

impl From<Invocation> for AskOptions {
    fn from(invocation: Invocation) -> Self {
        Self {
            invocation: Ok(invocation),
            cancellation_token: None,
        }
    }
}

impl<T: Into<Message>> From<T> for AskOptions {
    fn from(message: T) -> Self {
        Self {
            invocation: Invocation::new(message),
            cancellation_token: None,
        }
    }
}

impl Agent {
    /// Starts an agent whose identifier, used in events and telemetry, is `id`.
    pub fn builder(id: impl Into<String>) -> AgentBuilder {
        AgentBuilder {
            id: id.into(),
            ..AgentBuilder::default()
        }
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
        let AskOptions {
            invocation,
            cancellation_token,
        } = request.into();
        let runtime = match &self.runtime {
            Some(runtime) => Arc::clone(runtime),
            None => Runtime::shared()?,
        };
        let core = RunCore::new(
            runtime,
            invocation?,
            cancellation_token.unwrap_or_default().child_token(),
            CancellationToken::new(),
            Outbox::for_task(),
        );
        core.use_session(Session::of_invocation(
            &core.invocation,
            Arc::clone(core.runtime.session_store()),
        ));
        Ok(RunStream::new(
            core,
            Arc::clone(&self.definition) as Arc<dyn Entrypoint>,
        ))
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

#[async_trait]
impl Entrypoint for Definition {
    async fn open(&self, run: &Arc<RunCore>) -> Result<PreparedAgent> {
        let mut agent = PreparedAgent {
            id: Arc::clone(&self.id),
            model: self.model.resolve(&run.runtime)?,
            system_prompt: self.instructions.text(run, &self.id, &self.description)?,
            tools: self.tools.clone(),
            limits: self.limits.clone(),
            callbacks: CallbackChain::new(self.callbacks.clone()),
            capture_diagnostics: self.capture_diagnostics,
            contract: None,
        };
        self.features.install(&mut agent)?;
        Ok(agent)
    }
}

impl AgentBuilder {
    /// What the agent is for, as other agents will read it.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// The model: a role, a `connection:model-id`, or a model of your own. Without it the
    /// configured default answers.
    pub fn model(mut self, model: impl Into<ModelSelection>) -> Self {
        self.model = model.into();
        self
    }

    /// The instructions. They take the place of [`AgentBuilder::system_template`].
    pub fn system_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.instructions.inline = Some(prompt.into());
        #[cfg(feature = "prompts")]
        {
            self.instructions.template = None;
        }
        self
    }

    /// The template with the instructions, such as `"support/system"`; see [`PromptResolver`](crate::PromptResolver)
    /// and [`RuntimeBuilder::prompt_paths`](crate::RuntimeBuilder::prompt_paths). It takes the place of
    /// [`AgentBuilder::system_prompt`].
    ///
    /// Without both, the template `system` in the agent's own folder is used where there is one: for
    /// the agent `customer_support` the file `app/prompts/customer_support/system.j2`.
    #[cfg(feature = "prompts")]
    pub fn system_template(mut self, name: impl Into<String>) -> Self {
        self.instructions.template = Some(name.into());
        self.instructions.inline = None;
        self
    }

    /// A value that templates may use by `name`, besides `invocation`, `run` and `agent`.
    #[cfg(feature = "prompts")]
    pub fn prompt_local(mut self, name: impl Into<String>, value: impl serde::Serialize) -> Self {
        let name = name.into();
        let local = local_value(&name, value);
        self.instructions.locals.push((name, local));
        self
    }

    /// As [`AgentBuilder::prompt_local`], with a function that gives the value in each run. Its error fails
    /// the run.
    #[cfg(feature = "prompts")]
    pub fn prompt_local_with(
        mut self,
        name: impl Into<String>,
        resolve: impl Fn(&Run) -> Result<serde_json::Value> + Send + Sync + 'static,
    ) -> Self {
        let local = PromptLocal::Resolver(Arc::new(resolve));
        self.instructions.locals.push((name.into(), local));
        self
    }

    /// Adds a tool. A tool that could not be built fails [`AgentBuilder::build`].
    pub fn tool(mut self, tool: impl IntoTool) -> Self {
        self.tools.push(tool.into_tool());
        self
    }

    /// Bounds of each invocation.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Runs `callbacks` around the steps of each invocation, behind those already there.
    pub fn callbacks(mut self, callbacks: impl Callbacks + 'static) -> Self {
        self.callbacks.push(Arc::new(callbacks));
        self
    }

    /// Runs `callbacks` before those already there.
    pub fn callbacks_first(mut self, callbacks: impl Callbacks + 'static) -> Self {
        self.callbacks.insert(0, Arc::new(callbacks));
        self
    }

    /// Makes the agent return a checked JSON object instead of prose: [`RunResult::structured`](crate::RunResult::structured).
    /// A JSON Schema is enough; a [`ResultSchema`] says more.
    pub fn result_schema(mut self, schema: impl Into<ResultSchema>) -> Self {
        self.features.result_schema = Some(schema.into());
        self
    }

    /// Makes the agent return a `T`: [`Run::output`]. A doc comment on `T` tells the model what it is
    /// for, and those on its fields what they hold.
    #[cfg(feature = "schema")]
    pub fn result<T: schemars::JsonSchema>(self) -> Self {
        self.result_schema(ResultSchema::of::<T>())
    }

    /// Summarises older messages before a conversation outgrows the model's context window.
    pub fn manage_context(mut self, options: ContextManagement) -> Self {
        self.features.context_management = Some(options);
        self
    }

    /// Fails an invocation that repeats a tool call without progress.
    pub fn detect_tool_loops(mut self, options: ToolLoop) -> Self {
        self.features.tool_loop = Some(options);
        self
    }

    /// Whether instrumentation of the agent, its model calls and its tools may be given their content,
    /// which a capture policy still decides about. Default true.
    pub fn capture_diagnostics(mut self, capture: bool) -> Self {
        self.omit_diagnostics = !capture;
        self
    }

    /// Uses `runtime` instead of the shared one.
    pub fn runtime(mut self, runtime: Arc<Runtime>) -> Self {
        self.runtime = Some(runtime);
        self
    }

    /// Checks and builds the agent.
    ///
    /// # Errors
    /// [`Configuration`](crate::ErrorKind::Configuration) for an unusable tool, two of one name, or
    /// an unusable result schema; [`Argument`](crate::ErrorKind::Argument) for a limit below one
    /// and other numbers out of range.
    pub fn build(self) -> Result<Agent, Error> {
        self.instructions.check()?;
        let tools = self.tools.into_iter().collect::<Result<Vec<_>>>()?;
        let definition = Definition {
            id: if self.id.is_empty() {
                "agent".into()
            } else {
                self.id.into()
            },
            description: self.description,
            model: self.model,
            instructions: self.instructions,
            tools: ToolSet::new(tools)?,
            limits: self.limits.check()?,
            callbacks: self.callbacks,
            features: self.features.check()?,
            capture_diagnostics: !self.omit_diagnostics,
        };
        Ok(Agent {
            definition: Arc::new(definition),
            runtime: self.runtime,
        })
    }
}

impl std::fmt::Debug for AgentBuilder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("AgentBuilder")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
