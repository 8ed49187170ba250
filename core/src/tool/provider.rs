//! Tools that are only known in a run.

use std::sync::Arc;

use async_trait::async_trait;

use super::Tool;
use crate::error::Result;
use crate::run::Run;

/// Supplies tools for each run: those of the request's actor, of a remote server, of a plan.
#[async_trait]
pub trait ToolProvider: Send + Sync {
    /// The tools of `run`, besides the agent's own. What has to be closed with the run is registered with
    /// [`Run::register`].
    ///
    /// # Errors
    /// Any; the run then fails before its agent begins.
    async fn tools(&self, run: &Run) -> Result<Vec<Arc<dyn Tool>>>;
}
