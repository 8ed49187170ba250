//! How long a step may take and how often it is tried.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::error::{Error, ErrorKind, Result};

/// Says of a failure whether something is done about it.
#[async_trait]
pub(crate) trait ErrorMatcher: Send + Sync {
    async fn matches(&self, error: &Error) -> Result<bool>;
}

/// Failures of some kinds, those derived from them included.
struct Kinds(Vec<ErrorKind>);

#[async_trait]
impl ErrorMatcher for Kinds {
    async fn matches(&self, error: &Error) -> Result<bool> {
        Ok(self.0.iter().any(|kind| error.is(*kind)))
    }
}

/// Matches failures of `kinds`.
pub(crate) fn named(kinds: impl IntoIterator<Item = ErrorKind>) -> Arc<dyn ErrorMatcher> {
    Arc::new(Kinds(kinds.into_iter().collect()))
}

/// How long a step may take and how often it is tried: by default as long as the run, and once.
///
/// ```
/// use std::time::Duration;
/// use little_ghost::{ErrorKind, StepPolicy};
///
/// let policy = StepPolicy::default()
///     .timeout(Duration::from_secs(15))
///     .retries(2, [ErrorKind::Provider])
///     .retry_delay(Duration::from_millis(250));
/// # let _ = policy;
/// ```
#[derive(Clone, Default)]
pub struct StepPolicy {
    pub(crate) timeout: Option<Duration>,
    pub(crate) retries: u32,
    pub(crate) retry_on: Option<Arc<dyn ErrorMatcher>>,
    pub(crate) retry_delay: Duration,
}

impl StepPolicy {
    /// Ends an attempt with
    /// [`AssemblyStepTimeout`](ErrorKind::AssemblyStepTimeout) when it takes longer.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Tries the step `retries` times more after failures of `kinds`. Cancellation and failed clean-up are
    /// never tried again.
    #[must_use]
    pub fn retries(mut self, retries: u32, kinds: impl IntoIterator<Item = ErrorKind>) -> Self {
        self.retries = retries;
        self.retry_on = Some(named(kinds));
        self
    }

    /// Waits so long before each further attempt.
    #[must_use]
    pub fn retry_delay(mut self, delay: Duration) -> Self {
        self.retry_delay = delay;
        self
    }

    /// Whether another attempt may follow attempt number `attempt`, which failed with `error`.
    pub(super) async fn tries_again(&self, attempt: u32, error: &Error) -> Result<bool> {
        if attempt > self.retries
            || error.is(ErrorKind::Cancelled)
            || error.is(ErrorKind::Cleanup)
            || error.is(ErrorKind::DeadlineExceeded)
        {
            return Ok(false);
        }
        match &self.retry_on {
            Some(matcher) => matcher.matches(error).await,
            None => Ok(false),
        }
    }
}

impl fmt::Debug for StepPolicy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("StepPolicy")
            .field("timeout", &self.timeout)
            .field("retries", &self.retries)
            .field("retry_delay", &self.retry_delay)
            .finish_non_exhaustive()
    }
}
