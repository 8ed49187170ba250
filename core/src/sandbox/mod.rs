//! Sandboxes: which files operations reach, and how child processes are contained.
//!
//! A [`Sandbox`] belongs to a [`Workspace`]: its policy grants access to named paths of it.

mod access;
#[cfg(target_os = "linux")]
mod bubblewrap;
mod capabilities;
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "bubblewrap belongs to Linux")
)]
mod command_wrapper;
pub(crate) mod data;
mod environment;
mod execution;
mod files;
mod grant;
mod host_process;
mod limits;
mod narrowing;
mod native;
mod network_policy;
mod options;
mod policy;
mod probe;
mod process;
mod process_trait;
mod program;
mod provider;
mod scope;
mod scope_options;
mod scratch;
mod seatbelt;
mod source;
#[cfg(test)]
pub(crate) mod tests;
mod unrestricted;
mod wall;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

pub use access::{Access, RootFilesystem};
#[cfg(target_os = "linux")]
pub use bubblewrap::{Bubblewrap, ProcFilesystem};
pub use capabilities::{Capabilities, Feature};
pub use command_wrapper::CommandWrapper;
pub(crate) use command_wrapper::register as register_command_wrapper;
pub use environment::EnvironmentPolicy;
pub use execution::Execution;
use files::Files;
pub use grant::Grant;
pub use limits::Limits;
pub use narrowing::Narrowing;
pub use network_policy::{Inspection, NetworkMode, NetworkPolicy};
pub use options::SandboxOptions;
pub use policy::{PathAccess, Policy};
pub use probe::Probe;
pub use process::{ProcessOptions, ProcessSession};
pub use process_trait::{ExitStatus, Output, Process};
pub use program::Program;
pub(crate) use provider::check;
pub use provider::{SandboxProvider, build, native, probe, register};
pub use scope::Scope;
pub use scope_options::ScopeOptions;
pub use seatbelt::{Seatbelt, SeatbeltProfile};
pub(crate) use source::Kind as SourceKind;
pub use source::{RunSandboxProvider, SandboxSource};
pub use unrestricted::Unrestricted;
pub use wall::Wall;

use crate::error::{Error, ErrorKind, Result};
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

    /// What is left of its authority, for a [`Scope`]; `None` is all of it.
    fn narrowing(&self) -> Option<&Arc<Narrowing>> {
        None
    }

    /// The options of a named [`Scope`] of it.
    ///
    /// # Errors
    /// [`Policy`](crate::ErrorKind::Policy) when there is none of that name.
    fn profile(&self, name: &str) -> Result<ScopeOptions> {
        SandboxOptions::default().profile(name)
    }

    /// The UTF-8 text of a file. `path` is relative to the root, or `workspace://name/path`.
    ///
    /// # Errors
    /// [`Tool`](crate::ErrorKind::Tool) for what cannot be read or is not open to tools, a `KeyError` for a name that the
    /// workspace does not have.
    async fn read(&self, path: &str) -> Result<String> {
        files(self).read(path).await
    }

    /// The entries of a directory: sorted, one a line, directories with a `/` at the end.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    async fn list(&self, path: &str) -> Result<String> {
        files(self).list(path).await
    }

    /// Writes a whole file in a directory that exists, and says how many bytes.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    async fn write(&self, path: &str, content: &[u8]) -> Result<String> {
        files(self).write(path, content).await
    }

    /// Replaces the one occurrence of `old_text` by `new_text`, and says how many bytes the file has now.
    ///
    /// # Errors
    /// As [`read`](Self::read); also when `old_text` is empty, absent or there more than once.
    async fn replace(&self, path: &str, old_text: &str, new_text: &str) -> Result<String> {
        files(self).replace(path, old_text, new_text).await
    }

    /// Whether tools may write anywhere.
    fn is_writable(&self) -> bool {
        self.effective_policy()
            .within(self.narrowing().map(AsRef::as_ref))
            .is_writable()
    }

    /// Whether an operation is allowed, at all or at a path.
    fn allows(&self, operation: Feature, path: Option<&str>) -> bool {
        let access = match operation {
            Feature::FilesystemWrite | Feature::FilesystemReplace => Access::ReadWrite,
            _ => Access::ReadOnly,
        };
        self.capabilities().supports(operation)
            && match path {
                Some(path) => files(self).allows(path, access),
                None => access == Access::ReadOnly || self.is_writable(),
            }
    }

    /// Starts a program. The caller owns the process and closes it.
    ///
    /// # Errors
    /// [`Policy`](crate::ErrorKind::Policy) and [`Capability`](crate::ErrorKind::Capability) for what the
    /// sandbox does not grant or cannot enforce; [`Tool`](crate::ErrorKind::Tool) for a program that cannot
    /// be started.
    async fn start(&self, program: Program) -> Result<Box<dyn Process>>;

    /// The command that contains `program`, up to the program itself and without what is passed by descriptors, for a
    /// sandbox that has one.
    ///
    /// # Errors
    /// [`Capability`](crate::ErrorKind::Capability) without such a command, and as [`start`](Self::start).
    fn wrapper(&self, program: &Program) -> Result<Vec<String>> {
        let _ = program;
        Err(no_command())
    }

    /// Becomes `program`, with the terminal and the streams of this process, for a sandbox that contains programs by a
    /// command. It returns only when that fails.
    ///
    /// What this process was doing ends, a gateway of its own included: an allowlist needs one that outlives it.
    ///
    /// # Errors
    /// [`Capability`](crate::ErrorKind::Capability) without such a command, and as [`start`](Self::start).
    async fn exec(&self, program: Program) -> Error {
        let _ = program;
        no_command()
    }

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

fn no_command() -> Error {
    Error::new(
        ErrorKind::Capability,
        "this sandbox contains programs by no command",
    )
}

/// The files that tools reach in `sandbox`.
fn files<S: Sandbox + ?Sized>(sandbox: &S) -> Files {
    let narrowing = sandbox.narrowing().map(AsRef::as_ref);
    Files::new(
        Arc::clone(sandbox.workspace()),
        sandbox.effective_policy().within(narrowing),
        sandbox.limits().clone(),
    )
}
