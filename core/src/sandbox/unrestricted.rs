//! No isolation.

use std::sync::Arc;

use async_trait::async_trait;

use super::access::RootFilesystem;
use super::capabilities::{Capabilities, Feature};
use super::limits::Limits;
use super::network_policy::{NetworkMode, NetworkPolicy};
use super::options::SandboxOptions;
use super::policy::Policy;
use super::process_trait::Process;
use super::program::Program;
use super::scope_options::ScopeOptions;
use super::{Sandbox, host_process};
use crate::error::{Error, ErrorKind, Result};
use crate::run::Run;
use crate::workspace::Workspace;

/// Runs programs on the host with all of its authority, for work that one would do there anyway.
///
/// File operations stay within the policy, and output and processes are bounded. It is no security
/// boundary: a program does what this process could do.
#[derive(Debug)]
pub struct Unrestricted {
    workspace: Arc<Workspace>,
    options: SandboxOptions,
}

impl Unrestricted {
    /// A sandbox over `workspace`; a [`Policy`] is enough as `options`.
    ///
    /// # Errors
    /// [`Capability`](ErrorKind::Capability) for a network policy, which it cannot enforce;
    /// [`Policy`](ErrorKind::Policy) for paths that the workspace does not have.
    pub fn new(workspace: Arc<Workspace>, options: impl Into<SandboxOptions>) -> Result<Arc<Self>> {
        let options = options.into().check(&workspace)?;
        if let Some(network) = &options.policy.network {
            inherits(network)?;
        }
        Ok(Arc::new(Self { workspace, options }))
    }

    /// What it offers over files of which some, or none, can be written.
    #[must_use]
    pub fn backend_capabilities(writable: bool) -> Capabilities {
        let mut features = vec![
            Feature::FilesystemRead,
            Feature::FilesystemList,
            Feature::ProcessExecute,
            Feature::ProcessSpawn,
        ];
        if writable {
            features.extend([Feature::FilesystemWrite, Feature::FilesystemReplace]);
        }
        Capabilities::new(features, [NetworkMode::Inherit], "none")
    }
}

fn inherits(network: &NetworkPolicy) -> Result<()> {
    if network.mode == NetworkMode::Inherit {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Capability,
        format!(
            "an unrestricted sandbox cannot enforce the network mode {}; use the native sandbox, or the mode inherit",
            network.mode.as_str()
        ),
    ))
}

#[async_trait]
impl Sandbox for Unrestricted {
    fn workspace(&self) -> &Arc<Workspace> {
        &self.workspace
    }

    fn policy(&self) -> &Policy {
        &self.options.policy
    }

    fn effective_policy(&self) -> Policy {
        Policy {
            root_filesystem: RootFilesystem::ReadWrite,
            network: Some(NetworkPolicy::inherit()),
            ..self.options.policy.clone()
        }
    }

    fn capabilities(&self) -> Capabilities {
        Self::backend_capabilities(self.options.policy.is_writable())
    }

    fn limits(&self) -> &Limits {
        &self.options.limits
    }

    fn profile(&self, name: &str) -> Result<ScopeOptions> {
        self.options.profile(name)
    }

    async fn open(&self, _run: Option<&Run>) -> Result<()> {
        self.workspace.validate()
    }

    async fn close(&self) -> Result<()> {
        Ok(())
    }

    async fn start(&self, program: Program) -> Result<Box<dyn Process>> {
        let policy = self.effective_policy().within(program.scope.as_deref());
        if let Some(network) = &policy.network {
            inherits(network)?;
        }
        if program.allow_subprocesses == Some(false) {
            return Err(Error::new(
                ErrorKind::Capability,
                "an unrestricted sandbox cannot keep programs from starting others",
            ));
        }
        host_process::start(&self.workspace, &policy, &self.options.limits, program).await
    }
}
