//! What an agent of a Rust caller is made of, piece by piece.

use std::sync::Arc;

use super::definition::Definition;
use super::delegation::Delegation;
use super::instructions::{Inline, Instructions};
use super::prepared::ToolSet;
use super::{
    Agent, Callbacks, ContextManagement, Features, Limits, ModelSelection, ResultSchema, ToolLoop,
};
use crate::assembly::check_name;
use crate::code_mode::CodeMode;
use crate::error::{Error, Result};
use crate::run::{Declared, Invocation, Run};
use crate::runtime::Runtime;
use crate::sandbox::SandboxSource;
use crate::subagent::{Subagent, SubagentLimits};
use crate::tool::{IntoTool, Tool, ToolProvider};
use crate::workspace::WorkspaceSource;

/// Collects what an [`Agent`] is made of.
///
/// ```
/// use little_ghost::{Agent, ContextManagement, Decision, Limits, ToolLoop};
///
/// # fn example() -> little_ghost::Result<()> {
/// let support = Agent::builder("support")
///     .model("openrouter:openai/gpt-5.6-luna")
///     .system_prompt_with(|run| {
///         let customer = run.invocation().actor_id().unwrap_or("somebody");
///         Ok(format!("You answer {customer}."))
///     })
///     .limits(Limits { max_turns: 10, ..Limits::default() })
///     .manage_context(ContextManagement::default())
///     .detect_tool_loops(ToolLoop::default().except(["wait"]))
///     .before_tool(|call, _context| async move {
///         Ok(match call.tool_use.name.as_str() {
///             "refund" => Decision::Cancel(Some("Refunds are made by people.".into())),
///             _ => Decision::Continue,
///         })
///     })
///     .build()?;
/// # Ok(())
/// # }
/// # example().unwrap();
/// ```
#[derive(Default)]
#[must_use = "a builder does nothing until it is built"]
pub struct AgentBuilder {
    /// `None` only of [`AgentBuilder::default`].
    id: Option<String>,
    description: String,
    model: ModelSelection,
    instructions: Instructions,
    tools: Vec<Result<Arc<dyn Tool>>>,
    providers: Vec<Arc<dyn ToolProvider>>,
    limits: Limits,
    callbacks: Vec<Arc<dyn Callbacks>>,
    features: Features,
    omit_diagnostics: bool,
    premises: Declared,
    runtime: Option<Arc<Runtime>>,
    delegation: Delegation,
}

impl AgentBuilder {
    pub(super) fn of(id: String) -> Self {
        Self {
            id: Some(id),
            ..Self::default()
        }
    }

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

    /// Chooses the model for each request.
    pub fn model_with(
        mut self,
        choose: impl Fn(&Invocation) -> Result<ModelSelection> + Send + Sync + 'static,
    ) -> Self {
        self.model = ModelSelection::chosen(choose);
        self
    }

    /// The instructions. They take the place of [`AgentBuilder::system_template`].
    pub fn system_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.instructions.write_inline(Inline::Text(prompt.into()));
        self
    }

    /// Instructions that are written for each run.
    pub fn system_prompt_with(
        mut self,
        write: impl Fn(&Run) -> Result<String> + Send + Sync + 'static,
    ) -> Self {
        let inline = Inline::Written(Arc::new(write));
        self.instructions.write_inline(inline);
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
        self.instructions.locals.add(name.into(), value);
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
        self.instructions.locals.add_resolver(name.into(), resolve);
        self
    }

    /// Adds a tool. A tool that could not be built fails [`AgentBuilder::build`].
    pub fn tool(mut self, tool: impl IntoTool) -> Self {
        self.tools.push(tool.into_tool());
        self
    }

    /// Asks `provider` for more tools in each run.
    pub fn tool_provider(mut self, provider: impl ToolProvider + 'static) -> Self {
        self.providers.push(Arc::new(provider));
        self
    }

    /// Lets the agent's model delegate to `subagent`: it gets tools to create subagents, to talk to them and to
    /// wait for them.
    ///
    /// Their conversations are kept with the session of the run, for later runs of it. At the end of a run those
    /// that still work are stopped.
    pub fn subagent(mut self, subagent: impl Into<Subagent>) -> Self {
        self.delegation.declared.push(subagent.into());
        self
    }

    /// Asks `resolve` for more kinds of subagents in each run. Declared kinds win over those of the same name.
    pub fn subagents_with(
        mut self,
        resolve: impl Fn(&Run) -> Result<Vec<Subagent>> + Send + Sync + 'static,
    ) -> Self {
        self.delegation.resolvers.push(Arc::new(resolve));
        self
    }

    /// Bounds of the agent's subagents.
    pub fn subagent_limits(mut self, limits: SubagentLimits) -> Self {
        self.delegation.limits = limits;
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

    /// Lets the model write programs that call the agent's tools; see [`code_mode`](crate::code_mode).
    pub fn code_mode(mut self, mode: CodeMode) -> Self {
        self.features.code_mode = Some(mode);
        self
    }

    /// Whether instrumentation of the agent, its model calls and its tools may be given their content,
    /// which a capture policy still decides about. Default true.
    pub fn capture_diagnostics(mut self, capture: bool) -> Self {
        self.omit_diagnostics = !capture;
        self
    }

    /// The workspace of the agent's runs: one that is shared, or one made for each, which the run opens and
    /// closes. It comes before that of the runtime.
    ///
    /// ```no_run
    /// use little_ghost::{Agent, Workspace, WorkspaceSource};
    /// use little_ghost::sandbox::SandboxSource;
    /// use little_ghost::tools::Filesystem;
    ///
    /// # fn example() -> little_ghost::Result<()> {
    /// let agent = Agent::builder("editor")
    ///     .workspace(WorkspaceSource::each_run(|run| async move {
    ///         Workspace::builder(format!("/var/lib/editor/{}", run.operation_id())).build()
    ///     }))
    ///     .sandbox(SandboxSource::from_value(&little_ghost::json!({
    ///         "provider": "native", "files": {"root": "read_write"},
    ///     }))?)
    ///     .tool_provider(Filesystem::new())
    ///     .build()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn workspace(mut self, workspace: impl Into<WorkspaceSource>) -> Self {
        self.premises.workspace = Some(workspace.into());
        self
    }

    /// The sandbox of the agent's runs: one that is shared, or one made for each over the run's workspace.
    /// It comes before that of the runtime.
    pub fn sandbox(mut self, sandbox: impl Into<SandboxSource>) -> Self {
        self.premises.sandbox = Some(sandbox.into());
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
    /// [`Configuration`](crate::ErrorKind::Configuration) for a blank identifier, an unusable tool, two of one name, or
    /// an unusable result schema; [`Argument`](crate::ErrorKind::Argument) for a limit below one,
    /// other numbers out of range, unknown limits of code mode, and two kinds of subagents of one name; what is wrong with
    /// the sandbox of code mode.
    pub fn build(self) -> Result<Agent, Error> {
        let id = self.id.unwrap_or_else(|| "agent".into());
        check_name("the id of an agent", &id)?;
        self.instructions.check()?;
        let tools = self.tools.into_iter().collect::<Result<Vec<_>>>()?;
        // Refused here rather than in the first run.
        ToolSet::new(tools.clone())?;
        let definition = Definition {
            id: id.into(),
            description: self.description,
            model: self.model,
            instructions: self.instructions,
            tools,
            providers: self.providers,
            limits: self.limits.check()?,
            callbacks: self.callbacks,
            features: self.features.check()?,
            capture_diagnostics: !self.omit_diagnostics,
            premises: self.premises,
            delegation: self.delegation.check()?,
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
