//! The sandbox of Linux.

mod arguments;
mod filter;
mod landlock;
mod launch;
mod launcher;
mod mount;
mod paths;
mod probe;
mod provider;
mod report;
mod seccomp;
mod settings;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use async_trait::async_trait;

pub use arguments::ProcFilesystem;
pub(super) use provider::BubblewrapProvider;

use launch::Launch;

use super::process::{CgroupRoot, ProcessSession};
use super::{
    Capabilities, CommandWrapper, Feature, Limits, NetworkMode, NetworkPolicy, Policy, Probe,
    Process, Program, Sandbox, SandboxOptions, ScopeOptions, Wall,
};
use crate::error::{Error, ErrorKind, Result};
use crate::network::Gateway;
use crate::run::Run;
use crate::workspace::Workspace;

/// Where `bwrap` is on most systems.
const EXECUTABLE: &str = "/usr/bin/bwrap";

/// Runs each program in namespaces of its own, by `bwrap`.
///
/// Paths are the same inside and outside. A program sees what the policy grants, and what it takes to run
/// programs at all. Everything it started ends with it, and with this process, wherever it went. Behind the
/// namespaces stand a filter of system calls and, where the kernel has it, Landlock; the
/// [`effective_policy`](Sandbox::effective_policy) names the walls that are there. `bwrap` itself is neither
/// installed nor replaced by anything less.
///
/// ```no_run
/// use std::time::Duration;
/// use little_ghost::{Sandbox, Workspace};
/// use little_ghost::sandbox::{Bubblewrap, Policy, Program};
///
/// # async fn example() -> little_ghost::Result<()> {
/// let workspace = Workspace::builder("/var/lib/support/run-481").build()?;
/// workspace.open(None).await?;
/// let sandbox = Bubblewrap::new(workspace, Policy::writable())?;
/// sandbox.open(None).await?;
/// let listing = sandbox.execute(Program::new(["ls", "-l"]), Duration::from_secs(5), None).await?;
/// # let _ = listing;
/// # Ok(())
/// # }
/// ```
pub struct Bubblewrap {
    workspace: Arc<Workspace>,
    options: SandboxOptions,
    executable: PathBuf,
    platform: String,
    gateway: Option<Arc<dyn Gateway>>,
    command_wrapper: Option<Arc<dyn CommandWrapper>>,
    proc: ProcFilesystem,
    tmpfs: Vec<String>,
    masks: Vec<String>,
    runtime_roots: Vec<String>,
    uid: Option<u32>,
    gid: Option<u32>,
    cgroup: Option<CgroupRoot>,
}

impl Bubblewrap {
    /// A sandbox over `workspace`; a [`Policy`] is enough as `options`.
    ///
    /// # Errors
    /// [`Policy`](ErrorKind::Policy) for paths that the workspace does not have.
    pub fn new(workspace: Arc<Workspace>, options: impl Into<SandboxOptions>) -> Result<Self> {
        let options = options.into().check(&workspace)?;
        Ok(Self {
            workspace,
            options,
            executable: EXECUTABLE.into(),
            platform: std::env::consts::OS.to_owned(),
            gateway: None,
            command_wrapper: None,
            proc: ProcFilesystem::New,
            tmpfs: vec!["/tmp".to_owned(), "/run".to_owned()],
            masks: Vec::new(),
            runtime_roots: vec!["/usr".to_owned()],
            uid: None,
            gid: None,
            cgroup: CgroupRoot::find(),
        })
    }

    /// What it can do before a policy narrows it.
    #[must_use]
    pub fn backend_capabilities() -> Capabilities {
        Capabilities::new(Feature::ALL, NetworkMode::ALL, "namespace")
            .without(Feature::ProcessSpawnDenial)
    }

    /// Whether it can be used on `platform` with `executable`; by default here, with the usual one.
    pub async fn probe(executable: Option<&Path>, platform: Option<&str>) -> Probe {
        let executable = executable.unwrap_or(Path::new(EXECUTABLE));
        let platform = platform.unwrap_or(std::env::consts::OS);
        let problem = probe::probe(executable, platform, ProcFilesystem::New)
            .await
            .err();
        Probe::of(Self::backend_capabilities(), problem)
    }

    /// The arguments of `bwrap` for a program, up to what is passed by descriptors: the filter of system
    /// calls, files of the program, and the launcher.
    ///
    /// # Errors
    /// As [`start`](Sandbox::start).
    pub fn arguments(&self, program: &Program) -> Result<Vec<String>> {
        let policy = self.effective_policy().within(program.scope.as_deref());
        let network = self.network_of(&policy);
        let mounts = self.mounts(&policy, network)?;
        Ok(arguments::Arguments {
            root: policy.root_filesystem,
            network,
            launcher_is_first: false,
            runtime_roots: &self.runtime_roots,
            proc: self.proc,
            tmpfs: &self.tmpfs,
            tmpfs_bytes: program.memory_bytes,
            masks: &self.empty_folders(&mounts, &policy, network)?,
            cwd: &self.directory(&policy, program, &mounts)?,
            mounts: &mounts,
            data: &[],
            inherit_environment: policy.environment.inherited_by(program),
            environment: &policy.environment.for_program(&self.workspace, program),
            uid: self.uid,
            gid: self.gid,
        }
        .list())
    }

    async fn command(&self, program: &Program) -> Result<(Command, Vec<OwnedFd>)> {
        let policy = self.allowed(program).await?;
        let launch = self.launch(&policy, program, false)?;
        self.wrapped(launch, program).await?.into_command()
    }

    /// The launch, with what the application puts in front of it.
    async fn wrapped(&self, mut launch: Launch, program: &Program) -> Result<Launch> {
        if let Some(wrapper) = &self.command_wrapper {
            let command = std::mem::take(&mut launch.options.command);
            launch.options.command = wrapper.wrap(command, program.scope.as_deref()).await?;
        }
        Ok(launch)
    }

    /// The policy for `program`, which the gateway is ready to enforce.
    ///
    /// # Errors
    /// For what the program must not ask for.
    async fn allowed(&self, program: &Program) -> Result<Policy> {
        program.check()?;
        if program.allow_subprocesses == Some(false) {
            return Err(Error::new(
                ErrorKind::Capability,
                "Bubblewrap cannot keep programs from starting others; allow subprocesses, which end with the program",
            ));
        }
        let policy = self.effective_policy().within(program.scope.as_deref());
        if self.network_of(&policy) == NetworkMode::Allowlist {
            self.gateway()?.validate().await?;
        }
        Ok(policy)
    }

    fn network_of(&self, policy: &Policy) -> NetworkMode {
        policy
            .network
            .as_ref()
            .map_or(NetworkMode::None, |network| network.mode)
    }

    fn gateway(&self) -> Result<&Arc<dyn Gateway>> {
        self.gateway.as_ref().ok_or_else(|| {
            Error::new(
                ErrorKind::Dependency,
                "an allowlist needs a gateway that enforces it; give the sandbox one",
            )
        })
    }

    /// The version of Landlock that programs are put under.
    fn landlock(&self) -> Option<u32> {
        let root = self.options.policy.root_filesystem;
        let possible = launcher::EXECUTABLE.is_some()
            && (root == super::RootFilesystem::Isolated || !self.tmpfs.is_empty());
        landlock::version().filter(|_| possible)
    }

    fn walls(&self) -> BTreeSet<Wall> {
        let mut walls = BTreeSet::from([Wall::Namespaces]);
        let others = [
            (Wall::Seccomp, seccomp::IS_AVAILABLE),
            (Wall::Landlock, self.landlock().is_some()),
            (Wall::Cgroup, self.cgroup.is_some()),
        ];
        walls.extend(
            others
                .into_iter()
                .filter(|(_, there)| *there)
                .map(|(wall, _)| wall),
        );
        walls
    }
}

#[async_trait]
impl Sandbox for Bubblewrap {
    fn workspace(&self) -> &Arc<Workspace> {
        &self.workspace
    }

    fn policy(&self) -> &Policy {
        &self.options.policy
    }

    fn effective_policy(&self) -> Policy {
        let policy = self.options.policy.clone();
        Policy {
            network: Some(policy.network.unwrap_or_else(NetworkPolicy::none)),
            walls: self.walls(),
            ..policy
        }
    }

    fn capabilities(&self) -> Capabilities {
        let all = Self::backend_capabilities();
        match self.options.policy.is_writable() {
            true => all,
            false => all
                .without(Feature::FilesystemWrite)
                .without(Feature::FilesystemReplace),
        }
    }

    fn limits(&self) -> &Limits {
        &self.options.limits
    }

    fn profile(&self, name: &str) -> Result<ScopeOptions> {
        self.options.profile(name)
    }

    async fn open(&self, run: Option<&Run>) -> Result<()> {
        self.workspace.validate()?;
        probe::ensure(&self.executable, &self.platform, self.proc).await?;
        if self.network_of(&self.effective_policy()) == NetworkMode::Allowlist {
            self.gateway()?.open(run).await?;
        }
        Ok(())
    }

    async fn close(&self) -> Result<()> {
        match &self.gateway {
            Some(gateway) => gateway.close().await,
            None => Ok(()),
        }
    }

    fn wrapper(&self, program: &Program) -> Result<Vec<String>> {
        self.arguments(program)
    }

    async fn exec(&self, program: Program) -> Error {
        use std::os::unix::process::CommandExt;

        let problem = match self.command(&program).await {
            Ok((mut command, _open)) => command.exec(),
            Err(problem) => return problem,
        };
        Error::new(
            ErrorKind::Error,
            format!("cannot become the program: {problem}"),
        )
    }

    async fn start(&self, program: Program) -> Result<Box<dyn Process>> {
        let policy = self.allowed(&program).await?;
        let launch = self.launch(&policy, &program, true)?;
        let launch = self.wrapped(launch, &program).await?;
        Ok(Box::new(ProcessSession::start(launch.options).await?))
    }
}

impl fmt::Debug for Bubblewrap {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Bubblewrap")
            .field("executable", &self.executable)
            .field("policy", &self.options.policy)
            .finish_non_exhaustive()
    }
}
