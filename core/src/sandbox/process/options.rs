//! How a process is started, and its bounds.

use std::fmt;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use super::cgroup::Cgroup;
use super::companion::Companion;
use super::sample::Sampler;
use crate::error::{Error, ErrorKind, Result};

/// How a [`ProcessSession`](super::ProcessSession) starts its process, and the bounds of that.
#[non_exhaustive]
pub struct ProcessOptions {
    /// The program and its arguments. Without a slash, `PATH` of its own environment says where it is.
    pub command: Vec<String>,
    /// Its environment variables; of two with the same name the later counts.
    pub environment: Vec<(String, String)>,
    /// Whether it also gets the variables of this process. Default false.
    pub inherit_environment: bool,
    /// Where it starts; by default where this process is.
    pub chdir: Option<PathBuf>,
    /// Bytes of standard output and standard error together before it is ended. Default 1,000,000;
    /// [`u64::MAX`] is no bound.
    pub output_bytes: u64,
    /// Bytes of memory that the process and its descendants may use, looked at every 100 milliseconds.
    pub memory_bytes: Option<u64>,
    /// Processes and threads at once, looked at as the memory is.
    pub tasks: Option<u64>,
    /// Seconds of processor time of each process.
    pub cpu_seconds: Option<u64>,
    /// Bytes of each file that it writes.
    pub file_bytes: Option<u64>,
    /// Descriptors that it gets under the same numbers; it gets no others.
    pub(crate) inherited: Vec<OwnedFd>,
    /// What else knows about the process.
    pub(crate) companion: Option<Box<dyn Companion>>,
    /// What the kernel counts for the process and its descendants.
    pub(crate) cgroup: Option<Cgroup>,
    /// Looks at memory and tasks in place of the system's sampler.
    pub(crate) sampler: Option<Sampler>,
    /// Whether something inside of the process ends it when this process ends. Otherwise the kernel does.
    #[cfg_attr(
        not(target_os = "linux"),
        allow(dead_code, reason = "only Linux has such processes")
    )]
    pub(crate) ends_by_itself: bool,
    /// Whether limits of the kernel are set by something inside of the process.
    pub(crate) limits_are_set_inside: bool,
}

/// What a process may write when nobody says otherwise.
pub(crate) const OUTPUT_BYTES: u64 = 1_000_000;

impl ProcessOptions {
    /// A process with a clean environment and no limit but that of its output.
    pub fn new<T: Into<String>>(command: impl IntoIterator<Item = T>) -> Self {
        Self {
            command: command.into_iter().map(Into::into).collect(),
            environment: Vec::new(),
            inherit_environment: false,
            chdir: None,
            output_bytes: OUTPUT_BYTES,
            memory_bytes: None,
            tasks: None,
            cpu_seconds: None,
            file_bytes: None,
            inherited: Vec::new(),
            companion: None,
            cgroup: None,
            sampler: None,
            ends_by_itself: false,
            limits_are_set_inside: false,
        }
    }

    /// # Errors
    /// [`ErrorKind::Argument`] for what no process can be started with.
    pub(super) fn check(&self) -> Result<()> {
        let problem = if self.command.first().is_none_or(String::is_empty) {
            "command: needs a program"
        } else if self.command.iter().any(|word| word.contains('\0')) {
            "command: a word must not contain a NUL character"
        } else if self.environment.iter().any(|(name, value)| {
            name.is_empty() || name.contains(['=', '\0']) || value.contains('\0')
        }) {
            "environment: a name must be given without = and NUL, and a value without NUL"
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorKind::Argument, problem))
    }
}

impl fmt::Debug for ProcessOptions {
    /// Without arguments and values, which may be secrets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ProcessOptions")
            .field("program", &self.command.first())
            .field("output_bytes", &self.output_bytes)
            .finish_non_exhaustive()
    }
}
