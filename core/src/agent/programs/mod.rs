//! Code mode in the agent loop: which tools programs call, and the session that runs them.

mod dispatch;
mod session;

pub(crate) use session::Programs;

use std::sync::Arc;

use serde_json::{Map, Value};

use super::PreparedAgent;
use super::prepared::ToolSet;
use crate::code_mode::{CONTROLS, CodeMode, Control, Engine, SandboxFactory};
use crate::error::{Error, ErrorKind, Result};
use crate::panics::caught;
use crate::tool::Tool;

/// Orchestration is the conversation's, whatever its agents write.
const SUBAGENT_CONTROLS: [&str; 5] = [
    "spawn_subagent",
    "send_message_to_subagent",
    "interject_subagent",
    "wait_for_subagents",
    "list_subagents",
];

/// Code mode of one agent, ready for its invocations.
pub(crate) struct CodeModePlan {
    pub(super) engine: Arc<dyn Engine>,
    pub(super) sandboxes: Arc<dyn SandboxFactory>,
    pub(super) limits: Map<String, Value>,
    /// What programs call.
    pub(super) tools: ToolSet,
    /// The same, for the engine.
    pub(super) catalog: Arc<[Value]>,
}

impl CodeModePlan {
    /// Gives `agent` code mode: its tools move into programs, apart from those that `mode` keeps in the conversation and
    /// those that coordinate subagents.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for an unknown engine, and for names of tools that code mode uses or cannot tell apart;
    /// what the engine says of its limits, and what is wrong with the sandbox.
    pub(crate) async fn install(mode: &CodeMode, agent: &mut PreparedAgent) -> Result<()> {
        let engine = mode.resolve_engine()?;
        let sandboxes = mode.sandbox_factory();
        engine.check_limits(&mode.limits)?;
        sandboxes.check()?;
        if let Some(name) = agent.tools.names().find(|name| CONTROLS.contains(name)) {
            return Err(Error::new(
                ErrorKind::Configuration,
                format!("the tool {name:?} has the name of a control of code mode; rename it"),
            ));
        }
        let is_kept = |tool: &Arc<dyn Tool>| {
            let name = tool.definition().name();
            SUBAGENT_CONTROLS.contains(&name) || mode.except.iter().any(|kept| kept == name)
        };
        let (mut kept, moved): (Vec<_>, Vec<_>) =
            agent.tools.to_vec().into_iter().partition(is_kept);
        let catalog: Arc<[Value]> = moved
            .iter()
            .map(|tool| tool.definition().to_value())
            .collect();
        let instructions = caught("a code-mode engine", engine.instructions(&catalog)).await?;
        let mut tools = Control::all(engine.language())?;
        tools.append(&mut kept);
        agent.tools = ToolSet::new(tools)?;
        agent.system_prompt = Some(match agent.system_prompt.take() {
            Some(prompt) if !prompt.is_empty() => format!("{prompt}\n\n{instructions}"),
            _ => instructions,
        });
        agent.code_mode = Some(Arc::new(Self {
            sandboxes,
            limits: mode.limits.clone(),
            tools: ToolSet::new(moved)?,
            engine,
            catalog,
        }));
        Ok(())
    }
}
