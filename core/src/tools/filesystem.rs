//! The tools for files.

use std::sync::Arc;

use async_trait::async_trait;

use super::operation::Operation;
use super::sandbox_tool::{SandboxTool, without_sandbox};
use crate::error::Result;
use crate::run::Run;
use crate::sandbox::Sandbox;
use crate::tool::{IntoTool, Tool, ToolProvider};

/// The tools for the files of a sandbox: `read_file` and `list_files`, and where the sandbox can be written,
/// `write_file` and `replace_in_file`.
///
/// They add no isolation: containment, permissions and limits are the sandbox's.
///
/// ```
/// use little_ghost::Agent;
/// use little_ghost::tools::Filesystem;
///
/// # fn example() -> little_ghost::Result<()> {
/// let agent = Agent::builder("editor").tool_provider(Filesystem::new()).build()?;
/// # Ok(())
/// # }
/// # example().unwrap();
/// ```
#[derive(Clone, Default)]
pub struct Filesystem {
    exclusive: bool,
    sandbox: Option<Arc<dyn Sandbox>>,
}

impl Filesystem {
    /// The tools over the sandbox of the run.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, one call at a time in a run: reading cannot meet a change by another call either.
    #[must_use]
    pub fn exclusive() -> Self {
        Self {
            exclusive: true,
            sandbox: None,
        }
    }

    /// Works in `sandbox`, such as a [`Scope`](crate::sandbox::Scope).
    #[must_use]
    pub fn within(mut self, sandbox: Arc<dyn Sandbox>) -> Self {
        self.sandbox = Some(sandbox);
        self
    }

    /// The operations that `sandbox` has tools for.
    #[must_use]
    pub fn operations(sandbox: &dyn Sandbox) -> Vec<Operation> {
        let writable = sandbox.is_writable();
        Operation::ALL
            .into_iter()
            .filter(|operation| *operation != Operation::Shell)
            .filter(|operation| writable || !operation.is_mutation())
            .collect()
    }
}

#[async_trait]
impl ToolProvider for Filesystem {
    async fn tools(&self, run: &Run) -> Result<Vec<Arc<dyn Tool>>> {
        let sandbox = match &self.sandbox {
            Some(sandbox) => Arc::clone(sandbox),
            None => run.sandbox().ok_or_else(without_sandbox)?,
        };
        Self::operations(&*sandbox)
            .into_iter()
            .map(|operation| {
                SandboxTool::new(operation)
                    .exclusive(self.exclusive)
                    .within(Arc::clone(&sandbox))
                    .into_tool()
            })
            .collect()
    }
}

impl std::fmt::Debug for Filesystem {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Filesystem")
            .field("exclusive", &self.exclusive)
            .finish_non_exhaustive()
    }
}
