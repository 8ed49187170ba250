//! Looks at what a process uses, and says when it is too much.

use std::time::{Duration, Instant};

use super::sample::Sampler;
use crate::error::Error;

const PAUSE: Duration = Duration::from_millis(100);
const FAILURES: u32 = 3;

/// Limits that are looked at from time to time.
pub(super) struct Watch {
    sampler: Sampler,
    memory_bytes: Option<u64>,
    tasks: Option<u64>,
    failures: u32,
    next: Instant,
}

impl Watch {
    pub(super) fn new(sampler: Sampler, memory_bytes: Option<u64>, tasks: Option<u64>) -> Self {
        Self {
            sampler,
            memory_bytes,
            tasks,
            failures: 0,
            next: Instant::now() + PAUSE,
        }
    }

    /// The time until the next look.
    pub(super) fn patience(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    /// Looks if it is time, and says why the process must end.
    pub(super) fn look(&mut self, pid: u32) -> Option<Error> {
        if Instant::now() < self.next {
            return None;
        }
        self.next = Instant::now() + PAUSE;
        let Ok(sample) = (self.sampler)(pid) else {
            self.failures += 1;
            return (self.failures >= FAILURES).then(|| {
                Error::tool(
                    "The program was ended because its use of memory could not be read three times in a row.",
                )
            });
        };
        self.failures = 0;
        if let Some(limit) = self
            .memory_bytes
            .filter(|limit| sample.memory_bytes > *limit)
        {
            return Some(Error::tool(format!(
                "The program was ended because it used more than {limit} bytes of memory."
            )));
        }
        let limit = self.tasks.filter(|limit| sample.tasks > *limit)?;
        Some(Error::tool(format!(
            "The program was ended because it had more than {limit} processes and threads."
        )))
    }
}
