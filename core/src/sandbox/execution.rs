//! A program that ran to its end.

use std::time::Duration;

use tokio::time::Instant;

use super::process_trait::Process;
use crate::deadline::Deadline;
use crate::error::{Error, Result};

/// What a program that ran to its end has left.
#[derive(Clone, Debug, Default)]
pub struct Execution {
    /// Standard output, cut at the limit.
    pub stdout: String,
    /// Standard error, cut at the limit.
    pub stderr: String,
    /// What it returned; `None` when a signal ended it.
    pub exit_code: Option<i32>,
    /// Why it did not run as it should, where that is no failure of the call.
    pub error: Option<Error>,
}

impl Execution {
    /// Whether it ran and returned zero.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.error.is_none() && self.exit_code == Some(0)
    }

    /// Waits for the end of `process`, at most `timeout`, and keeps `max_bytes` of each stream. Whatever
    /// happens, the process is closed.
    ///
    /// # Errors
    /// [`Tool`](crate::ErrorKind::Tool) after `timeout`; what the process fails with.
    pub async fn of(process: &dyn Process, timeout: Duration, max_bytes: u64) -> Result<Self> {
        let outcome = Self::observe(process, timeout, max_bytes).await;
        let closed = process.close().await;
        let execution = outcome?;
        closed?;
        Ok(execution)
    }

    async fn observe(process: &dyn Process, timeout: Duration, max_bytes: u64) -> Result<Self> {
        let end = Deadline::instant_after(timeout);
        process.close_write().await?;
        let (mut stdout, mut stderr) = (Captured::new(max_bytes), Captured::new(max_bytes));
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let output = process.read(left).await?;
            stdout.add(&output.stdout);
            stderr.add(&output.stderr);
            if output.eof {
                break;
            }
            if end <= Instant::now() {
                return Err(timed_out(timeout));
            }
        }
        let left = end.saturating_duration_since(Instant::now());
        let status = process.wait(Some(left), true).await?;
        Ok(Self {
            stdout: stdout.into_text(),
            stderr: stderr.into_text(),
            exit_code: status.code,
            error: None,
        })
    }
}

fn timed_out(timeout: Duration) -> Error {
    let seconds = timeout.as_secs_f64();
    Error::tool(format!(
        "The command was ended because it took longer than {seconds} seconds."
    ))
}

/// The beginning of a stream.
struct Captured {
    bytes: Vec<u8>,
    limit: usize,
    cut: bool,
}

impl Captured {
    fn new(limit: u64) -> Self {
        Self {
            bytes: Vec::new(),
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            cut: false,
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        let room = self.limit - self.bytes.len();
        let kept = bytes.get(..room).unwrap_or(bytes);
        self.cut |= kept.len() < bytes.len();
        self.bytes.extend_from_slice(kept);
    }

    fn into_text(self) -> String {
        let mut bytes = self.bytes;
        if self.cut {
            // A character that the limit cuts in two is left out.
            let whole = match std::str::from_utf8(&bytes) {
                Err(problem) if problem.error_len().is_none() => problem.valid_up_to(),
                _ => bytes.len(),
            };
            bytes.truncate(whole);
        }
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        if self.cut {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&format!("[output truncated at {} bytes]\n", self.limit));
        }
        text
    }
}
