//! A child process, as its owner sees it.

use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::oneshot;

use super::super::{ExitStatus, Output, Process};
use super::leader;
use super::options::ProcessOptions;
use super::state::{Shared, State};
use super::supervisor::Supervisor;
use crate::error::{Error, ErrorKind, Result};
use crate::executor;

/// Bytes of input that may wait for the process before a further write waits.
const WAITING_INPUT: usize = 1024 * 1024;
/// Stack of the thread that supervises; it calls nothing deep.
const STACK: usize = 256 * 1024;

/// A child process in a group of its own, with bounded streams.
///
/// It gets the variables that [`ProcessOptions`] name and three pipes, and no other descriptor of this
/// process. When this process dies, however it does, the kernel ends the child on Linux; on other systems
/// it goes on. Its end also ends the ordinary descendants, those in its group. A descendant that leaves the
/// group outlives it, unless a sandbox owns the whole tree.
///
/// Dropping the session ends the process without waiting for that. In a forked copy of this process the
/// session does nothing: its process belongs to the original.
pub struct ProcessSession {
    shared: Arc<Shared>,
    pid: u32,
}

impl ProcessSession {
    /// Starts the process.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for options that cannot be used; [`ErrorKind::Error`] with the code of the
    /// system, such as `"ENOENT"`, when it cannot be started; [`ErrorKind::Dependency`] and
    /// [`ErrorKind::UnsupportedPlatform`] when a limit cannot be supervised here.
    pub async fn start(options: ProcessOptions) -> Result<Self> {
        options.check()?;
        let shared = Arc::new(Shared::new().map_err(|problem| no_thread(&problem))?);
        let (sender, started) = oneshot::channel();
        let for_thread = Arc::clone(&shared);
        thread::Builder::new()
            .name("little-ghost-process".to_owned())
            .stack_size(STACK)
            .spawn(move || {
                super::spawn::leave_signals_to_others();
                match Supervisor::start(Arc::clone(&for_thread), options) {
                    Ok(supervisor) => {
                        let session = Self {
                            shared: for_thread,
                            pid: supervisor.id(),
                        };
                        // Without anybody to take it, the session is dropped, and that ends the process.
                        drop(sender.send(Ok(session)));
                        supervisor.run();
                    }
                    Err(problem) => drop(sender.send(Err(problem))),
                }
            })
            .map_err(|problem| no_thread(&problem))?;
        started.await.unwrap_or_else(|_| {
            Err(Error::new(
                ErrorKind::Error,
                "the thread of a process ended before it started one",
            ))
        })
    }

    fn check_owner(&self) -> Result<()> {
        if self.shared.is_foreign() {
            return Err(Error::new(
                ErrorKind::Error,
                "this process was forked from the one that started the program; use the session there",
            ));
        }
        Ok(())
    }
}

fn no_thread(problem: &std::io::Error) -> Error {
    Error::new(
        ErrorKind::Error,
        format!("cannot supervise a process: {problem}"),
    )
}

fn failure(state: &State) -> Result<()> {
    state.failure.clone().map_or(Ok(()), Err)
}

/// What `work` returns, or `None` after `timeout`.
async fn within<T>(timeout: Duration, work: impl Future<Output = T>) -> Result<Option<T>> {
    tokio::select! {
        biased;
        found = work => Ok(Some(found)),
        over = executor::pause(timeout) => over.map(|()| None),
    }
}

#[async_trait]
impl Process for ProcessSession {
    fn pid(&self) -> u32 {
        self.pid
    }

    async fn read(&self, timeout: Duration) -> Result<Output> {
        self.check_owner()?;
        let take = |state: &mut State| Output {
            stdout: std::mem::take(&mut state.stdout.unread),
            stderr: std::mem::take(&mut state.stderr.unread),
            eof: state.is_silent(),
        };
        let look = |state: &mut State| {
            if let Err(problem) = failure(state) {
                return Some(Err(problem));
            }
            let empty = state.stdout.unread.is_empty() && state.stderr.unread.is_empty();
            (!empty || state.is_silent()).then(|| Ok(take(state)))
        };
        let found = if timeout.is_zero() {
            look(&mut self.shared.lock())
        } else {
            within(timeout, self.shared.until(look)).await?
        };
        let output = found.transpose()?.unwrap_or_default();
        // The supervisor may have waited for room.
        self.shared.ask(|_| ());
        Ok(output)
    }

    async fn write(&self, bytes: &[u8]) -> Result<()> {
        self.check_owner()?;
        let end = self
            .shared
            .until(|state| {
                if state.input.closed || state.input.ending {
                    return Some(Err(no_reader()));
                }
                if state.input.waiting.len() >= WAITING_INPUT {
                    return None;
                }
                // All at once, so that a write that is given up leaves no half of a message behind.
                state.input.waiting.extend(bytes);
                state.input.accepted += bytes.len() as u64;
                Some(Ok(state.input.accepted))
            })
            .await?;
        self.shared.ask(|_| ());
        self.shared
            .until(|state| match state.input.written >= end {
                true => Some(Ok(())),
                false => state.input.closed.then(|| Err(no_reader())),
            })
            .await
    }

    async fn close_write(&self) -> Result<()> {
        self.check_owner()?;
        self.shared.ask(|state| state.input.ending = true);
        Ok(())
    }

    async fn is_alive(&self) -> Result<bool> {
        self.check_owner()?;
        let (ended, gone) = {
            let state = self.shared.lock();
            failure(&state)?;
            (state.exit.is_some(), state.gone)
        };
        let pid = self.pid;
        match (ended, gone) {
            (_, true) => Ok(false),
            (false, _) => Ok(true),
            (true, false) => executor::blocking(move || Ok(leader::has_members(pid, false))).await,
        }
    }

    async fn wait(&self, timeout: Option<Duration>, terminate: bool) -> Result<ExitStatus> {
        self.check_owner()?;
        let ended = self.shared.until(|state| {
            let status = state.exit?;
            Some(failure(state).map(|()| status))
        });
        let Some(timeout) = timeout else {
            return ended.await;
        };
        if let Some(status) = within(timeout, ended).await? {
            return status;
        }
        if terminate {
            self.terminate().await?;
        }
        let seconds = timeout.as_secs_f64();
        Err(Error::tool(format!(
            "The program did not end within {seconds} seconds."
        )))
    }

    async fn terminate(&self) -> Result<Option<ExitStatus>> {
        self.check_owner()?;
        self.shared.ask(|state| state.stop = true);
        let look = |state: &mut State| (state.gone || state.stuck).then_some(state.exit);
        Ok(self.shared.until(look).await)
    }

    async fn close(&self) -> Result<()> {
        if self.shared.is_foreign() {
            return Ok(());
        }
        self.shared.ask(|state| {
            state.closed = true;
            state.stop = true;
        });
        let stuck = self
            .shared
            .until(|state| (state.gone).then_some(state.stuck))
            .await;
        if stuck {
            return Err(Error::new(
                ErrorKind::Cleanup,
                format!("process {} did not end although it was forced to", self.pid),
            ));
        }
        Ok(())
    }
}

fn no_reader() -> Error {
    Error::new(
        ErrorKind::Error,
        "the program does not read its input any more",
    )
    .with_code("EPIPE")
}

impl Drop for ProcessSession {
    fn drop(&mut self) {
        if !self.shared.is_foreign() {
            self.shared.ask(|state| {
                state.closed = true;
                state.stop = true;
            });
        }
    }
}

impl fmt::Debug for ProcessSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ProcessSession")
            .field("pid", &self.pid)
            .finish_non_exhaustive()
    }
}
