//! The sandbox of macOS.

mod profile;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;

pub use profile::SeatbeltProfile;

use super::access::RootFilesystem;
use super::capabilities::{Capabilities, Feature};
use super::limits::Limits;
use super::network_policy::{NetworkMode, NetworkPolicy};
use super::options::SandboxOptions;
use super::policy::Policy;
use super::probe::Probe;
use super::process_trait::Process;
use super::program::Program;
use super::scope_options::ScopeOptions;
use super::scratch::Scratch;
use super::{Sandbox, host_process};
use crate::error::{Error, ErrorKind, Result};
use crate::run::Run;
use crate::workspace::Workspace;

/// Runs programs under a Seatbelt profile that denies what the policy does not open.
///
/// Paths are the same inside and outside. Child processes inherit the profile. macOS has no namespaces of
/// processes: what a program started and moved to another group outlives it.
#[derive(Debug)]
pub struct Seatbelt {
    workspace: Arc<Workspace>,
    options: SandboxOptions,
    executable: PathBuf,
    platform: String,
    scratch: Mutex<Option<Arc<Scratch>>>,
}

/// What macOS brings.
const EXECUTABLE: &str = "/usr/bin/sandbox-exec";

impl Seatbelt {
    /// A sandbox over `workspace`; a [`Policy`] is enough as `options`.
    ///
    /// # Errors
    /// [`Capability`](ErrorKind::Capability) for an allowlist, which it cannot enforce;
    /// [`Policy`](ErrorKind::Policy) for paths that the workspace does not have.
    pub fn new(workspace: Arc<Workspace>, options: impl Into<SandboxOptions>) -> Result<Self> {
        let options = options.into().check(&workspace)?;
        if let Some(network) = &options.policy.network {
            enforceable(network)?;
        }
        Ok(Self {
            workspace,
            options,
            executable: EXECUTABLE.into(),
            platform: std::env::consts::OS.to_owned(),
            scratch: Mutex::default(),
        })
    }

    /// Uses `executable` in place of `/usr/bin/sandbox-exec`.
    #[must_use]
    pub fn executable(mut self, executable: impl Into<PathBuf>) -> Self {
        self.executable = executable.into();
        self
    }

    /// Takes the system for the one of that name, such as `"macos"`.
    #[must_use]
    pub fn platform(mut self, platform: impl Into<String>) -> Self {
        self.platform = platform.into();
        self
    }

    /// What it can do before a policy narrows it.
    #[must_use]
    pub fn backend_capabilities() -> Capabilities {
        let modes = [NetworkMode::Inherit, NetworkMode::None];
        Capabilities::new(Feature::ALL, modes, "seatbelt").without(Feature::ProcessTreeOwnership)
    }

    /// Whether it can be used on `platform` with `executable`; by default here, with what macOS brings.
    #[must_use]
    pub fn probe(executable: Option<&Path>, platform: Option<&str>) -> Probe {
        let executable = executable.unwrap_or(Path::new(EXECUTABLE));
        let problem = unusable(executable, platform.unwrap_or(std::env::consts::OS));
        Probe::of(Self::backend_capabilities(), problem)
    }

    /// The profile for a program of this policy.
    fn profile_of(&self, policy: &Policy, scratch: &Path, subprocesses: bool) -> Result<String> {
        let grants = policy.process_grants(&self.workspace)?;
        let network = policy.network.as_ref().map(|network| network.mode);
        SeatbeltProfile {
            root_filesystem: policy.root_filesystem,
            grants: &grants,
            scratch,
            network: network == Some(NetworkMode::Inherit),
            subprocesses,
        }
        .render()
    }
}

/// Why it cannot be used, if it cannot.
fn unusable(executable: &Path, platform: &str) -> Option<Error> {
    if platform != "macos" && !platform.contains("darwin") {
        return Some(Error::new(
            ErrorKind::UnsupportedPlatform,
            format!("Seatbelt belongs to macOS, and this is {platform}; use the native sandbox"),
        ));
    }
    if !executable.is_file() {
        return Some(Error::new(
            ErrorKind::Dependency,
            format!("Seatbelt needs {}, which is missing", executable.display()),
        ));
    }
    None
}

fn enforceable(network: &NetworkPolicy) -> Result<()> {
    if !network.is_allowlist() {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Capability,
        "Seatbelt cannot enforce an allowlist; use the network mode none or inherit",
    ))
}

#[async_trait]
impl Sandbox for Seatbelt {
    fn workspace(&self) -> &Arc<Workspace> {
        &self.workspace
    }

    fn policy(&self) -> &Policy {
        &self.options.policy
    }

    fn effective_policy(&self) -> Policy {
        let policy = self.options.policy.clone();
        Policy {
            network: policy.network.or_else(|| Some(NetworkPolicy::none())),
            ..policy
        }
    }

    fn capabilities(&self) -> Capabilities {
        let all = Self::backend_capabilities();
        match self.options.policy.root_filesystem {
            RootFilesystem::Isolated => all.without(Feature::ProcessSpawn),
            RootFilesystem::ReadOnly | RootFilesystem::ReadWrite => all,
        }
    }

    fn limits(&self) -> &Limits {
        &self.options.limits
    }

    fn profile(&self, name: &str) -> Result<ScopeOptions> {
        self.options.profile(name)
    }

    async fn open(&self, _run: Option<&Run>) -> Result<()> {
        if let Some(problem) = unusable(&self.executable, &self.platform) {
            return Err(problem);
        }
        self.workspace.validate()?;
        let scratch = crate::executor::blocking(|| {
            Scratch::new().map_err(|problem| {
                Error::new(
                    ErrorKind::Dependency,
                    format!("cannot make a temporary folder ({})", problem.kind()),
                )
            })
        })
        .await?;
        self.scratch.lock().get_or_insert_with(|| Arc::new(scratch));
        Ok(())
    }

    async fn close(&self) -> Result<()> {
        let Some(scratch) = self.scratch.lock().take() else {
            return Ok(());
        };
        crate::executor::blocking(move || {
            scratch.remove().map_err(|problem| {
                Error::new(
                    ErrorKind::Cleanup,
                    format!(
                        "cannot remove the temporary folder of the sandbox ({})",
                        problem.kind()
                    ),
                )
            })
        })
        .await
    }

    async fn start(&self, mut program: Program) -> Result<Box<dyn Process>> {
        program.check()?;
        let scratch = self
            .scratch
            .lock()
            .clone()
            .ok_or_else(|| Error::tool("The sandbox is not open."))?;
        let policy = self.effective_policy().within(program.scope.as_deref());
        let can_spawn = self.capabilities().supports(Feature::ProcessSpawn);
        if program.allow_subprocesses == Some(true) && !can_spawn {
            return Err(Error::new(
                ErrorKind::Capability,
                "programs of an isolated Seatbelt sandbox cannot start others; set root_filesystem to read_only",
            ));
        }
        let subprocesses = program.allow_subprocesses.unwrap_or(can_spawn);
        let profile = self.profile_of(&policy, scratch.path(), subprocesses)?;
        let wrapper = [
            self.executable.to_string_lossy().into_owned(),
            "-p".into(),
            profile,
            "--".into(),
        ];
        program.command.splice(0..0, wrapper);
        let folder = scratch.path().to_string_lossy().into_owned();
        program.environment.push(("TMPDIR".into(), folder));
        host_process::start(&self.workspace, &policy, &self.options.limits, program).await
    }
}
