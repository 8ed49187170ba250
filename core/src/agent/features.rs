//! Built-in features that an agent may have.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::context_management::ContextManager;
use super::tool_loop::ToolLoopWatch;
use super::{CodeModePlan, ContextManagement, PreparedAgent, ResultSchema, ToolLoop};
use crate::code_mode::CodeMode;
use crate::error::Result;

/// Built-in features that an agent may have; by default none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Features {
    pub(crate) result_schema: Option<ResultSchema>,
    pub(crate) context_management: Option<ContextManagement>,
    pub(crate) tool_loop: Option<ToolLoop>,
    pub(crate) code_mode: Option<CodeMode>,
}

impl Features {
    /// Reads `{result_schema?, context_management?, tool_loop?, code_mode?}` among other keys.
    ///
    /// # Errors
    /// What the feature's own `from_value` says.
    pub(crate) fn from_map(map: &Map<String, Value>) -> Result<Self> {
        let declared = |key: &str| map.get(key).filter(|value| !value.is_null());
        Ok(Self {
            result_schema: declared("result_schema")
                .map(ResultSchema::from_value)
                .transpose()?,
            context_management: declared("context_management")
                .map(ContextManagement::from_value)
                .transpose()?,
            tool_loop: declared("tool_loop")
                .map(ToolLoop::from_value)
                .transpose()?,
            code_mode: declared("code_mode")
                .map(CodeMode::from_value)
                .transpose()?,
        })
    }

    /// The features, when each makes sense by itself.
    ///
    /// # Errors
    /// What the feature's own `check` says.
    pub(crate) fn check(self) -> Result<Self> {
        if let Some(schema) = &self.result_schema {
            schema.check()?;
        }
        Ok(Self {
            result_schema: self.result_schema,
            context_management: self
                .context_management
                .map(ContextManagement::check)
                .transpose()?,
            tool_loop: self.tool_loop.map(ToolLoop::check).transpose()?,
            code_mode: self.code_mode.map(CodeMode::check).transpose()?,
        })
    }

    /// Gives `agent` the features, before the callbacks of the application.
    ///
    /// # Errors
    /// [`Configuration`](crate::ErrorKind::Configuration) when the model or the tools do not go with
    /// the result schema.
    pub(crate) async fn install(&self, agent: &mut PreparedAgent) -> Result<()> {
        if let Some(mode) = &self.code_mode {
            CodeModePlan::install(mode, agent).await?;
        }
        if let Some(schema) = &self.result_schema {
            let structured = schema.bind(
                &agent.id,
                &agent.model.capabilities(),
                agent.model.target(),
                agent.tools.names(),
            )?;
            agent.contract = Some(Arc::new(structured));
        }
        if let Some(options) = &self.context_management {
            let manager = ContextManager::new(options.clone());
            agent.callbacks.prepend(Arc::new(manager));
        }
        if let Some(options) = &self.tool_loop {
            let watch = ToolLoopWatch::new(options.clone());
            agent.callbacks.prepend(Arc::new(watch));
        }
        Ok(())
    }
}
