//! What is started in a sandbox.

use std::sync::Arc;

use super::environment::check_variable;
use super::narrowing::Narrowing;
use crate::error::{Error, ErrorKind, Result};

/// A program with its arguments, and the bounds of its process.
///
/// ```
/// use little_ghost::sandbox::Program;
///
/// let program = Program::new(["git", "log", "-1"]).variable("LC_ALL", "C");
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Program {
    /// The program and its arguments; no shell reads them.
    pub command: Vec<String>,
    /// Variables of this program, over those of the policy.
    pub environment: Vec<(String, String)>,
    /// Whether to inherit the variables of this process, where the policy allows it. Default false.
    pub inherit_environment: bool,
    /// Where to start: a path relative to the workspace's root, which is the default.
    pub cwd: Option<String>,
    /// Bytes that both output streams may bring together before the program is ended. `None` is the limit
    /// of the sandbox; [`u64::MAX`] none at all.
    pub output_bytes: Option<u64>,
    /// Bytes of memory of the program and its descendants.
    pub memory_bytes: Option<u64>,
    /// Seconds on the processor.
    pub cpu_seconds: Option<u64>,
    /// Bytes of each file that it writes.
    pub file_bytes: Option<u64>,
    /// Processes and threads at once.
    pub tasks: Option<u64>,
    /// Whether it may start others: true and false are demands, `None` is what the sandbox does by itself.
    pub allow_subprocesses: Option<bool>,
    /// What is left of the sandbox's authority for this program; `None` is all of it.
    pub scope: Option<Arc<Narrowing>>,
    /// Read-only files that exist only for this program: absolute path inside, and content.
    pub data: Vec<(String, Arc<[u8]>)>,
}

impl Program {
    /// The program named first, with the arguments after it.
    pub fn new<T: Into<String>>(command: impl IntoIterator<Item = T>) -> Self {
        Self {
            command: command.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// A line for `/bin/sh`.
    pub fn shell(line: impl Into<String>) -> Self {
        Self::new(["/bin/sh".to_owned(), "-c".to_owned(), line.into()])
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Ends it after so many seconds on the processor.
    #[must_use]
    pub fn cpu_seconds(mut self, seconds: u64) -> Self {
        self.cpu_seconds = Some(seconds);
        self
    }

    /// Ends it, and its descendants, when they take more than so many bytes of memory.
    #[must_use]
    pub fn memory_bytes(mut self, bytes: u64) -> Self {
        self.memory_bytes = Some(bytes);
        self
    }

    /// Starts in `cwd`, a path relative to the workspace's root.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<String>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }
}

impl std::fmt::Debug for Program {
    /// Without arguments and values, which may be secrets.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Program")
            .field("program", &self.command.first())
            .field("arguments", &self.command.len().saturating_sub(1))
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}

impl Program {
    /// Fails for what no process can be started with.
    pub(crate) fn check(&self) -> Result<()> {
        if self.command.first().is_none_or(String::is_empty) {
            return Err(Error::tool("The command is empty; name a program."));
        }
        if self.command.iter().any(|word| word.contains('\0')) {
            return Err(Error::tool("A word of the command contains a NUL byte."));
        }
        for (limit, most) in [
            ("memory_bytes", self.memory_bytes),
            ("cpu_seconds", self.cpu_seconds),
            ("tasks", self.tasks),
        ] {
            if most == Some(0) {
                return Err(Error::new(
                    ErrorKind::Argument,
                    format!("{limit} of a program must be at least 1; leave it out for no limit"),
                ));
            }
        }
        for (name, value) in &self.environment {
            check_variable(name, value)
                .map_err(|problem| Error::new(ErrorKind::Argument, problem))?;
        }
        Ok(())
    }
}
