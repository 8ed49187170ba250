//! Puts everything together that one program is started with.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::Command;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{PidfdFlags, getpid, pidfd_open};

use super::arguments::Arguments;
use super::mount::Mount;
use super::report::{Report, Writers};
use super::{Bubblewrap, landlock, launcher, mount, seccomp};
use crate::error::{Error, ErrorKind, Result};
use crate::network::PROXY_PORT;
use crate::sandbox::process::{Cgroup, Companion};
use crate::sandbox::{NetworkMode, Policy, ProcessOptions, Program, RootFilesystem};

/// Where the launcher appears when nothing of the host is in the way.
const LAUNCHER: &str = "/.little-ghost";

/// A program that is about to start, and what its arguments refer to.
pub(super) struct Launch {
    pub(super) options: ProcessOptions,
}

impl Bubblewrap {
    /// Everything that `program` is started with under `policy`. When it is not `attended`, nobody reads how
    /// it comes along.
    pub(super) fn launch(
        &self,
        policy: &Policy,
        program: &Program,
        attended: bool,
    ) -> Result<Launch> {
        let network = self.network_of(policy);
        let mounts = self.mounts(policy, network)?;
        let masks = self.empty_folders(&mounts, policy, network)?;
        let cwd = self.directory(policy, program, &mounts)?;
        let mut environment = policy.environment.for_program(&self.workspace, program);
        if network == NetworkMode::Allowlist {
            let gateway = self.gateway()?.environment();
            let new =
                |(name, _): &(String, String)| !environment.iter().any(|(known, _)| known == name);
            let missing: Vec<_> = gateway.into_iter().filter(new).collect();
            environment.extend(missing);
        }
        let inherit = policy.environment.inherited_by(program);
        let place = self.launcher_place(policy.root_filesystem);
        if place.is_none() && network == NetworkMode::Allowlist {
            return Err(Error::new(
                ErrorKind::Capability,
                "an allowlist needs a place for its relay inside the sandbox; keep one of the tmpfs folders",
            ));
        }
        let mut inherited = Vec::new();
        let mut keep = |file: File| {
            let number = file.as_raw_fd();
            inherited.push(OwnedFd::from(file));
            number
        };
        let mut data = Vec::new();
        for (path, bytes) in &program.data {
            mount::check_absolute("a file of the program", path)?;
            data.push((keep(in_memory(bytes)?), path.clone()));
        }
        if let (Some(executable), Some(place)) = (launcher::EXECUTABLE, &place) {
            data.push((keep(in_memory(executable)?), place.clone()));
        }
        let own = match attended && place.is_some() {
            true => pidfd_open(getpid(), PidfdFlags::empty()).ok(),
            false => None,
        };
        let launcher_is_first = own.is_some();
        let arguments = Arguments {
            root: policy.root_filesystem,
            network,
            launcher_is_first,
            runtime_roots: &self.runtime_roots,
            proc: self.proc,
            tmpfs: &self.tmpfs,
            tmpfs_bytes: program.memory_bytes,
            mounts: &mounts,
            masks: &masks,
            data: &data,
            cwd: &cwd,
            inherit_environment: inherit,
            environment: &environment,
            uid: self.uid,
            gid: self.gid,
        };
        let mut list = arguments.list();
        if seccomp::IS_AVAILABLE {
            let filter = keep(in_memory(&seccomp::filter(network))?);
            list.extend(["--seccomp".to_owned(), filter.to_string()]);
        }
        let told = match attended {
            true => Report::new(place.is_some()).map(|(report, writers)| (Some(report), writers)),
            false => Writers::to_nobody().map(|writers| (None, writers)),
        };
        let (report, writers) = told.map_err(|problem| broken(&problem))?;
        let status = keep(File::from(writers.status));
        if let Some(reader) = writers.status_reader {
            keep(File::from(reader));
        }
        list.extend(["--json-status-fd".to_owned(), status.to_string()]);
        // Not on the command line, where every user of the machine could read the environment.
        let list = keep(in_memory(list.join("\0").as_bytes())?);
        let mut command = vec![mount::text(&self.executable)?];
        command.extend(["--args".to_owned(), list.to_string(), "--".to_owned()]);
        if let (Some(place), Some(writer)) = (place, writers.launcher) {
            let number = keep(File::from(writer));
            command.extend([place, number.to_string()]);
            if let Some(own) = own {
                command.push(format!("H{}", keep(File::from(own))));
            }
            command.extend(self.steps(policy, program, &mounts, network)?);
            command.push("--".to_owned());
        }
        command.extend(program.command.iter().cloned());
        let mut options = ProcessOptions::new(command);
        options.inherit_environment = inherit;
        options.output_bytes = program
            .output_bytes
            .unwrap_or(self.options.limits.output_bytes);
        options.memory_bytes = program.memory_bytes;
        // The two that bwrap is, and the relay, are not the program's.
        options.tasks = program.tasks.map(|count| count.saturating_add(3));
        options.cpu_seconds = program.cpu_seconds;
        options.file_bytes = program.file_bytes;
        options.limits_are_set_inside = launcher::EXECUTABLE.is_some();
        options.inherited = inherited;
        options.ends_by_itself = launcher_is_first;
        options.companion = report.map(|report| Box::new(report) as Box<dyn Companion>);
        options.cgroup = self.group_for(program)?;
        Ok(Launch { options })
    }

    /// Where the launcher appears; `None` when there is none, or no place for it.
    fn launcher_place(&self, root: RootFilesystem) -> Option<String> {
        launcher::EXECUTABLE?;
        match (root, self.tmpfs.first()) {
            (RootFilesystem::Isolated, _) => Some(LAUNCHER.to_owned()),
            (_, Some(folder)) => Some(format!("{}{LAUNCHER}", folder.trim_end_matches('/'))),
            (_, None) => None,
        }
    }

    /// What the launcher does before the command.
    fn steps(
        &self,
        policy: &Policy,
        program: &Program,
        mounts: &[Mount],
        network: NetworkMode,
    ) -> Result<Vec<String>> {
        let mut steps = launcher::limits(program.cpu_seconds, program.file_bytes, program.tasks);
        for mount in mounts {
            if let Some((device, inode)) = mount.identity {
                steps.push(format!("I{device}:{inode}:{}", mount.target));
            }
        }
        if network == NetworkMode::Allowlist {
            let socket = self.gateway()?.proxy_mount_path().ok_or_else(no_socket)?;
            steps.push(format!("g{PROXY_PORT}:{}", mount::text(&socket)?));
        }
        if let Some(version) = self.landlock() {
            let root = policy.root_filesystem;
            steps.extend(landlock::steps(version, root, mounts, &self.tmpfs, network));
        }
        Ok(steps)
    }

    fn group_for(&self, program: &Program) -> Result<Option<Cgroup>> {
        let limited = program.memory_bytes.is_some() || program.tasks.is_some();
        let Some(root) = self.cgroup.as_ref().filter(|_| limited) else {
            return Ok(None);
        };
        let tasks = program.tasks.map(|count| count.saturating_add(3));
        Cgroup::new(root, program.memory_bytes, tasks)
            .map(Some)
            .map_err(|problem| {
                Error::new(
                    ErrorKind::SandboxConfiguration,
                    format!("cannot make a control group for the program: {problem}"),
                )
            })
    }
}

fn no_socket() -> Error {
    Error::new(
        ErrorKind::Dependency,
        "the gateway has no socket that the sandbox could relay to; is it open?",
    )
}

impl Launch {
    /// A command that this process can become, and the descriptors to keep open until then. From here on they
    /// outlive an exec.
    pub(super) fn into_command(self) -> Result<(Command, Vec<OwnedFd>)> {
        let options = self.options;
        for descriptor in &options.inherited {
            rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::empty())
                .map_err(|problem| broken(&problem.into()))?;
        }
        let mut words = options.command.iter();
        let program = words.next().map_or("", String::as_str);
        let mut command = Command::new(program);
        command.args(words);
        if !options.inherit_environment {
            command.env_clear();
        }
        Ok((command, options.inherited))
    }
}

/// A file in memory, at its beginning.
fn in_memory(bytes: &[u8]) -> Result<File> {
    let make = || -> io::Result<File> {
        let mut file = File::from(memfd_create("little-ghost", MemfdFlags::CLOEXEC)?);
        file.write_all(bytes)?;
        file.rewind()?;
        Ok(file)
    };
    make().map_err(|problem| broken(&problem))
}

fn broken(problem: &io::Error) -> Error {
    Error::new(
        ErrorKind::Error,
        format!("cannot prepare a sandbox: {problem}"),
    )
}
