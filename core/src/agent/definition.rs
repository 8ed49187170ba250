//! What an agent of a Rust caller is made of, and how a run gets it.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::delegation::Delegation;
use super::instructions::Instructions;
use super::prepared::{PreparedAgent, ToolSet};
use super::{CallbackChain, Callbacks, Features, Limits, ModelSelection};
use crate::error::Result;
use crate::panics::caught;
use crate::run::{Declared, Entrypoint, Opened, Run, RunCore};
use crate::tool::{Tool, ToolProvider};

/// What an agent is made of. Shared by its clones and its runs.
#[derive(Clone)]
pub(super) struct Definition {
    pub(super) id: Arc<str>,
    pub(super) description: String,
    pub(super) model: ModelSelection,
    pub(super) instructions: Instructions,
    /// Always there.
    pub(super) tools: Vec<Arc<dyn Tool>>,
    /// Asked in each run.
    pub(super) providers: Vec<Arc<dyn ToolProvider>>,
    pub(super) limits: Limits,
    pub(super) callbacks: Vec<Arc<dyn Callbacks>>,
    pub(super) features: Features,
    pub(super) capture_diagnostics: bool,
    pub(super) premises: Declared,
    pub(super) delegation: Delegation,
}

impl Definition {
    /// The tools of one run.
    async fn tools(&self, run: &Arc<RunCore>, locals: &Arc<Map<String, Value>>) -> Result<ToolSet> {
        let mut tools = self.tools.clone();
        let handle = Run::new(Arc::clone(run));
        for provider in &self.providers {
            let found = caught("a tool provider", provider.tools(&handle));
            tools.extend(run.bounded(found).await?);
        }
        if let Some(manager) = self.delegation.manager(run, &handle, locals)? {
            tools.extend(manager.tools()?);
        }
        ToolSet::new(tools)
    }

    /// Whether agents may work for this one.
    fn delegates(&self) -> bool {
        !self.providers.is_empty() || !self.delegation.is_empty()
    }
}

#[async_trait]
impl Entrypoint for Definition {
    fn agent_id(&self) -> Option<&str> {
        Some(&self.id)
    }

    fn premises(&self) -> Option<&Declared> {
        Some(&self.premises)
    }

    async fn open(&self, run: &Arc<RunCore>) -> Result<Opened> {
        if run.is_part() {
            // Of the run itself they are open already.
            run.open_premises(&self.premises).await?;
        }
        let own = self
            .delegates()
            .then(|| self.instructions.locals.resolve(run));
        let own = own.transpose()?;
        let locals = Arc::new(own.clone().unwrap_or_default());
        let mut agent = PreparedAgent {
            id: Arc::clone(&self.id),
            model: self.model.resolve(&run.runtime, &run.invocation)?,
            system_prompt: self
                .instructions
                .text(run, &self.id, &self.description, own)?,
            tools: self.tools(run, &locals).await?,
            limits: self.limits.clone(),
            callbacks: CallbackChain::new(self.callbacks.clone()),
            capture_diagnostics: self.capture_diagnostics,
            contract: None,
            locals,
            ends: None,
            code_mode: None,
        };
        self.features.install(&mut agent).await?;
        Ok(Opened::Agent(Box::new(agent)))
    }
}
