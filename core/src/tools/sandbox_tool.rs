//! A tool that does its work in a sandbox.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::operation::Operation;
use crate::error::{Error, ErrorKind, Result};
use crate::sandbox::Sandbox;
use crate::tool::{IntoTool, RunContext, Tool, ToolDefinition};

/// A tool that does its work in a sandbox: that of the run, unless it has one of its own.
///
/// ```
/// use little_ghost::Agent;
/// use little_ghost::tools::SandboxTool;
///
/// # fn example() -> little_ghost::Result<()> {
/// let agent = Agent::builder("builder").tool(SandboxTool::shell()).build()?;
/// # Ok(())
/// # }
/// # example().unwrap();
/// ```
pub struct SandboxTool {
    operation: Operation,
    definition: Result<ToolDefinition>,
    sandbox: Option<Arc<dyn Sandbox>>,
}

impl SandboxTool {
    /// The tool of that operation.
    #[must_use]
    pub fn new(operation: Operation) -> Self {
        Self {
            operation,
            definition: operation.definition(),
            sandbox: None,
        }
    }

    /// Reads one UTF-8 text file.
    #[must_use]
    pub fn read_file() -> Self {
        Self::new(Operation::ReadFile)
    }

    /// Lists one directory.
    #[must_use]
    pub fn list_files() -> Self {
        Self::new(Operation::ListFiles)
    }

    /// Writes one file.
    #[must_use]
    pub fn write_file() -> Self {
        Self::new(Operation::WriteFile)
    }

    /// Replaces a text that is in a file once.
    #[must_use]
    pub fn replace_in_file() -> Self {
        Self::new(Operation::ReplaceInFile)
    }

    /// Runs one program: at most 30 seconds, at most 1,000,000 bytes of each output stream, with a clean
    /// environment.
    #[must_use]
    pub fn shell() -> Self {
        Self::new(Operation::Shell)
    }

    /// Makes calls take the run-wide exclusive lock.
    #[must_use]
    pub fn exclusive(mut self, exclusive: bool) -> Self {
        self.definition = self
            .definition
            .map(|definition| definition.exclusive(exclusive));
        self
    }

    /// Works in `sandbox`, such as a [`Scope`](crate::sandbox::Scope).
    #[must_use]
    pub fn within(mut self, sandbox: Arc<dyn Sandbox>) -> Self {
        self.sandbox = Some(sandbox);
        self
    }
}

impl IntoTool for SandboxTool {
    fn into_tool(self) -> Result<Arc<dyn Tool>> {
        Ok(Arc::new(Ready {
            definition: self.definition?,
            operation: self.operation,
            sandbox: self.sandbox,
        }))
    }
}

impl std::fmt::Debug for SandboxTool {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_tuple("SandboxTool")
            .field(&self.operation)
            .finish()
    }
}

struct Ready {
    operation: Operation,
    definition: ToolDefinition,
    sandbox: Option<Arc<dyn Sandbox>>,
}

#[async_trait]
impl Tool for Ready {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: Map<String, Value>, context: &RunContext) -> Result<Value> {
        let sandbox = match &self.sandbox {
            Some(sandbox) => Arc::clone(sandbox),
            None => context.run().sandbox().ok_or_else(without_sandbox)?,
        };
        self.operation.call(&*sandbox, &input).await
    }
}

pub(super) fn without_sandbox() -> Error {
    Error::new(
        ErrorKind::Configuration,
        "the run has no sandbox; declare one for the agent or the runtime",
    )
}
