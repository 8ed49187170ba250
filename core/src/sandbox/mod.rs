//! Sandboxes: which files operations reach, and how child processes are contained.
//!
//! A [`Sandbox`] belongs to a [`Workspace`]: its policy grants access to named paths of it.

mod access;
mod capabilities;
mod environment;
mod execution;
mod grant;
mod limits;
mod narrowing;
mod network_policy;
mod policy;
mod process_trait;
mod program;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

pub use access::{Access, RootFilesystem};
pub use capabilities::{Capabilities, Feature};
pub use environment::EnvironmentPolicy;
pub use execution::Execution;
pub use grant::Grant;
pub use limits::Limits;
pub use narrowing::Narrowing;
pub use network_policy::{Inspection, NetworkMode, NetworkPolicy};
pub use policy::{PathAccess, Policy};
pub use process_trait::{ExitStatus, Output, Process};
pub use program::Program;

use crate::error::Result;
use crate::run::Run;
use crate::workspace::Workspace;

/// What governs files and child processes of a run.
#[async_trait]
pub trait Sandbox: Send + Sync {
    /// The workspace whose files and processes it governs.
    fn workspace(&self) -> &Arc<Workspace>;

    /// What the application asked for.
    fn policy(&self) -> &Policy;

    /// What it really enforces.
    fn effective_policy(&self) -> Policy;

    /// What it can do.
    fn capabilities(&self) -> Capabilities;

    /// Bounds of file operations and output.
    fn limits(&self) -> &Limits;

    /// Makes it ready. Its workspace is open.
    ///
    /// # Errors
    /// [`Dependency`](crate::ErrorKind::Dependency) without what it needs,
    /// [`Capability`](crate::ErrorKind::Capability) for what it cannot enforce.
    async fn open(&self, run: Option<&Run>) -> Result<()>;

    /// Releases what it holds. Again is no error.
    ///
    /// # Errors
    /// What could not be released.
    async fn close(&self) -> Result<()>;

    /// Starts a program. The caller owns the process and closes it.
    ///
    /// # Errors
    /// [`Policy`](crate::ErrorKind::Policy) and [`Capability`](crate::ErrorKind::Capability) for what the
    /// sandbox does not grant or cannot enforce; [`Tool`](crate::ErrorKind::Tool) for a program that cannot
    /// be started.
    async fn start(&self, program: Program) -> Result<Box<dyn Process>>;

    /// Runs a program to its end, at most `timeout`; of each output stream at most `max_output_bytes` are
    /// kept, by default the limit of the sandbox.
    ///
    /// # Errors
    /// As [`start`](Self::start); [`Tool`](crate::ErrorKind::Tool) after `timeout`.
    async fn execute(
        &self,
        mut program: Program,
        timeout: Duration,
        max_output_bytes: Option<u64>,
    ) -> Result<Execution> {
        // Output is cut, not a reason to end the program.
        program.output_bytes = Some(u64::MAX);
        let process = self.start(program).await?;
        let max_bytes = max_output_bytes.unwrap_or(self.limits().output_bytes);
        Execution::of(&*process, timeout, max_bytes).await
    }
}
