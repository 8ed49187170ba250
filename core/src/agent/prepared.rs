//! An agent with everything resolved, ready for one run.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{CallbackChain, CodeModePlan, Contract, Limits};
use crate::code_mode::CONTROLS;
use crate::error::{Error, ErrorKind, Result};
use crate::model::Model;
use crate::tool::{Tool, ToolDefinition};

/// An agent with everything resolved, ready for one run.
pub(crate) struct PreparedAgent {
    pub(crate) id: Arc<str>,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) system_prompt: Option<String>,
    pub(crate) tools: ToolSet,
    pub(crate) limits: Limits,
    pub(crate) callbacks: CallbackChain,
    /// Whether instrumentation may be given content.
    pub(crate) capture_diagnostics: bool,
    /// What the result must be, beyond text.
    pub(crate) contract: Option<Arc<dyn Contract>>,
    /// Values for the prompts of those who work for it.
    pub(crate) locals: Arc<Map<String, Value>>,
    /// Whether the agent is done after its tool calls, asked after each batch.
    pub(crate) ends: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
    /// Which tools its programs call, if its model writes programs.
    pub(crate) code_mode: Option<Arc<CodeModePlan>>,
}

impl PreparedAgent {
    /// Whether the tool of that name controls programs.
    pub(crate) fn is_control(&self, name: &str) -> bool {
        self.code_mode.is_some() && CONTROLS.contains(&name)
    }

    /// What invocation events say about the model.
    pub(crate) fn metadata(&self) -> Arc<Map<String, Value>> {
        let mut metadata = self.model.details();
        metadata.insert("target".into(), json!(self.model.target()));
        metadata.entry("provenance").or_insert_with(|| json!({}));
        metadata.entry("observed_at").or_insert(Value::Null);
        metadata.insert("model_role".into(), json!(self.model.role()));
        Arc::new(metadata)
    }
}

/// The tools of one agent, by unique name.
#[derive(Clone, Default)]
pub(crate) struct ToolSet {
    tools: HashMap<String, Arc<dyn Tool>>,
    definitions: Arc<[ToolDefinition]>,
}

impl ToolSet {
    pub(crate) fn new(tools: Vec<Arc<dyn Tool>>) -> Result<Self> {
        let mut set = Self::default();
        let mut definitions = Vec::with_capacity(tools.len());
        for tool in tools {
            let definition = tool.definition().clone();
            if set
                .tools
                .insert(definition.name().to_owned(), tool)
                .is_some()
            {
                return Err(Error::new(
                    ErrorKind::Configuration,
                    format!(
                        "two tools are named {:?}; give one of them another name",
                        definition.name()
                    ),
                ));
            }
            definitions.push(definition);
        }
        set.definitions = definitions.into();
        Ok(set)
    }

    /// The tools, in order.
    pub(crate) fn to_vec(&self) -> Vec<Arc<dyn Tool>> {
        self.definitions
            .iter()
            .filter_map(|definition| self.tools.get(definition.name()).cloned())
            .collect()
    }

    /// Adds a tool of the engine's own.
    pub(crate) fn add(&mut self, tool: Arc<dyn Tool>) -> Result<()> {
        let mut tools = self.to_vec();
        tools.push(tool);
        *self = Self::new(tools)?;
        Ok(())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)
    }

    pub(crate) fn definitions(&self) -> &Arc<[ToolDefinition]> {
        &self.definitions
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.definitions.iter().map(ToolDefinition::name)
    }
}
