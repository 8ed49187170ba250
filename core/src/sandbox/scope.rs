//! A view of a sandbox with less authority.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::capabilities::{Capabilities, Feature};
use super::narrowing::Narrowing;
use super::policy::Policy;
use super::process_trait::Process;
use super::program::Program;
use super::scope_options::ScopeOptions;
use super::{Execution, Limits, Sandbox, files};
use crate::error::{Error, ErrorKind, Result};
use crate::run::Run;
use crate::workspace::Workspace;

/// A view of a sandbox with less authority, for one agent or one set of tools. It owns nothing: opening
/// and closing it does nothing. Who still holds the sandbox itself keeps all of its authority.
///
/// ```
/// # use std::sync::Arc;
/// use little_ghost::Sandbox;
/// use little_ghost::sandbox::{Access, Scope, ScopeOptions};
///
/// # fn example(sandbox: Arc<dyn Sandbox>) -> little_ghost::Result<()> {
/// let reviewer = Scope::new(
///     &sandbox,
///     ScopeOptions::default()
///         .file("source", Access::ReadOnly)
///         .no_runtime_paths()
///         .no_network(),
/// )?;
/// # Ok(())
/// # }
/// ```
pub struct Scope {
    sandbox: Arc<dyn Sandbox>,
    narrowing: Arc<Narrowing>,
}

impl Scope {
    /// What `options` leave of `sandbox`, which may be a scope itself.
    ///
    /// # Errors
    /// [`Capability`](ErrorKind::Capability) for what the sandbox does not have,
    /// [`Argument`](ErrorKind::Argument) for unknown names of capabilities.
    pub fn new(sandbox: &Arc<dyn Sandbox>, options: ScopeOptions) -> Result<Self> {
        let parent = whole(&**sandbox);
        Ok(Self {
            narrowing: Arc::new(options.narrow(&parent)?),
            sandbox: Arc::clone(sandbox),
        })
    }

    /// What the sandbox's profile of that name leaves of it.
    ///
    /// # Errors
    /// [`Policy`](ErrorKind::Policy) for an unknown profile, and as [`Scope::new`].
    pub fn of_profile(sandbox: &Arc<dyn Sandbox>, profile: &str) -> Result<Self> {
        Self::new(sandbox, sandbox.profile(profile)?)
    }

    /// The sandbox that enforces it.
    #[must_use]
    pub fn sandbox(&self) -> &Arc<dyn Sandbox> {
        &self.sandbox
    }

    fn require(&self, feature: Feature) -> Result<()> {
        if self.narrowing.capabilities.supports(feature) {
            return Ok(());
        }
        Err(Error::tool(format!(
            "This part of the sandbox does not offer {}.",
            feature.as_str()
        )))
    }
}

/// All that `sandbox` may do.
fn whole(sandbox: &dyn Sandbox) -> Narrowing {
    match sandbox.narrowing() {
        Some(narrowing) => Narrowing::clone(narrowing),
        None => {
            let policy = sandbox.effective_policy();
            Narrowing {
                files: policy.files,
                runtime_paths: policy.runtime_paths,
                network: policy.network,
                capabilities: sandbox.capabilities(),
            }
        }
    }
}

#[async_trait]
impl Sandbox for Scope {
    fn workspace(&self) -> &Arc<Workspace> {
        self.sandbox.workspace()
    }

    fn policy(&self) -> &Policy {
        self.sandbox.policy()
    }

    fn effective_policy(&self) -> Policy {
        self.sandbox.effective_policy()
    }

    fn capabilities(&self) -> Capabilities {
        self.narrowing.capabilities.clone()
    }

    fn limits(&self) -> &Limits {
        self.sandbox.limits()
    }

    fn narrowing(&self) -> Option<&Arc<Narrowing>> {
        Some(&self.narrowing)
    }

    fn profile(&self, name: &str) -> Result<ScopeOptions> {
        self.sandbox.profile(name)
    }

    async fn open(&self, _run: Option<&Run>) -> Result<()> {
        Ok(())
    }

    async fn close(&self) -> Result<()> {
        Ok(())
    }

    async fn read(&self, path: &str) -> Result<String> {
        self.require(Feature::FilesystemRead)?;
        files(self).read(path).await
    }

    async fn list(&self, path: &str) -> Result<String> {
        self.require(Feature::FilesystemList)?;
        files(self).list(path).await
    }

    async fn write(&self, path: &str, content: &[u8]) -> Result<String> {
        self.require(Feature::FilesystemWrite)?;
        files(self).write(path, content).await
    }

    async fn replace(&self, path: &str, old_text: &str, new_text: &str) -> Result<String> {
        self.require(Feature::FilesystemReplace)?;
        files(self).replace(path, old_text, new_text).await
    }

    fn wrapper(&self, program: &Program) -> Result<Vec<String>> {
        self.sandbox.wrapper(&self.narrowed(program.clone())?)
    }

    async fn exec(&self, program: Program) -> Error {
        match self.narrowed(program) {
            Ok(program) => self.sandbox.exec(program).await,
            Err(problem) => problem,
        }
    }

    async fn start(&self, program: Program) -> Result<Box<dyn Process>> {
        self.sandbox.start(self.narrowed(program)?).await
    }

    async fn execute(
        &self,
        program: Program,
        timeout: Duration,
        max_output_bytes: Option<u64>,
    ) -> Result<Execution> {
        let program = self.narrowed(program)?;
        self.sandbox
            .execute(program, timeout, max_output_bytes)
            .await
    }
}

impl Scope {
    /// The program with no more authority than this scope has.
    fn narrowed(&self, mut program: Program) -> Result<Program> {
        self.require(Feature::ProcessExecute)?;
        if !self.narrowing.capabilities.supports(Feature::ProcessSpawn) {
            if program.allow_subprocesses == Some(true) {
                self.require(Feature::ProcessSpawn)?;
            }
            program.allow_subprocesses = Some(false);
        }
        match &program.scope {
            None => program.scope = Some(Arc::clone(&self.narrowing)),
            Some(scope) if scope.is_within(&self.narrowing) => {}
            Some(_) => {
                return Err(Error::new(
                    ErrorKind::Capability,
                    "the program's scope is wider than the scope that starts it",
                ));
            }
        }
        Ok(program)
    }
}

impl std::fmt::Debug for Scope {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_tuple("Scope")
            .field(&self.narrowing)
            .finish()
    }
}
