//! A child process as its owner sees it.

use std::time::Duration;

use async_trait::async_trait;

use crate::error::Result;

/// A child process in a sandbox. Whoever starts one owns it and closes it; dropping it ends the process
/// as well, without waiting for that.
#[async_trait]
pub trait Process: Send + Sync {
    /// Its number on the host.
    fn pid(&self) -> u32;

    /// What it has written since the last time, waiting at most `timeout` for something. What is not read
    /// yet is kept up to a bound, and the process waits beyond it.
    ///
    /// # Errors
    /// [`Tool`](crate::ErrorKind::Tool) when the process exceeded one of its limits.
    async fn read(&self, timeout: Duration) -> Result<Output>;

    /// Writes all of `bytes` to its input, waiting while it does not read.
    ///
    /// # Errors
    /// [`Error`](crate::ErrorKind::Error) with the code `"EPIPE"` when it does not read any more.
    async fn write(&self, bytes: &[u8]) -> Result<()>;

    /// Ends its input.
    ///
    /// # Errors
    /// Any failure of the system.
    async fn close_write(&self) -> Result<()>;

    /// Whether it, or anything in its group, still runs.
    ///
    /// # Errors
    /// [`Tool`](crate::ErrorKind::Tool) when the process exceeded a limit, or can no longer be watched.
    async fn is_alive(&self) -> Result<bool>;

    /// Waits for its end. With `terminate`, one that takes longer than `timeout` is ended.
    ///
    /// # Errors
    /// [`Tool`](crate::ErrorKind::Tool) after `timeout`, or when the process exceeded a limit.
    async fn wait(&self, timeout: Option<Duration>, terminate: bool) -> Result<ExitStatus>;

    /// Ends it: first it is asked, half a second later it is forced.
    ///
    /// # Errors
    /// Any failure of the system.
    async fn terminate(&self) -> Result<Option<ExitStatus>>;

    /// Ends it if necessary, and closes its streams. Again is no error.
    ///
    /// # Errors
    /// When the process could not be ended.
    async fn close(&self) -> Result<()>;
}

/// What a process has written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// Whether both streams have ended.
    pub eof: bool,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExitStatus {
    /// Its number on the host.
    pub pid: u32,
    /// What it returned; `None` when a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

impl ExitStatus {
    /// Whether it returned zero.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.code == Some(0)
    }
}
