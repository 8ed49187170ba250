//! What an application put in the place of parts of a provider.
//!
//! Providers are shared by all that use a connection, while a substitute belongs to whoever asks: it is found
//! through the task that sends the request. Without any, a request costs one look at a thread-local.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use serde_json::Value;
use tokio::task_local;
use tokio::time::sleep;

use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::http::Transport;

/// Takes the place of the network, of pauses, of credentials and of the clock of one request, or of some of them.
#[async_trait]
pub(crate) trait Substitute: fmt::Debug + Send + Sync {
    /// What carries the attempts of the request instead of the network. What else a provider has to ask for, such
    /// as a token, does not go through it.
    fn transport(&self) -> Option<Arc<dyn Transport>> {
        None
    }

    /// Told before the pause that follows a failed attempt.
    async fn retrying(&self, _attempt: u32, _error: &Error, _delay: Duration) -> Result<()> {
        Ok(())
    }

    /// The pause before the next attempt.
    async fn pause(&self, delay: Duration) -> Result<()> {
        sleep(delay).await;
        Ok(())
    }

    /// Whether [`credentials`](Self::credentials) has any. They then go over all others.
    fn has_credentials(&self) -> bool {
        false
    }

    /// Credentials for the next attempt, as the provider's option takes them: a token, or an object of keys.
    async fn credentials(&self, _deadline: Option<Deadline>) -> Result<Value> {
        Ok(Value::Null)
    }

    /// The time that signatures are made for.
    async fn now(&self) -> Result<SystemTime> {
        Ok(SystemTime::now())
    }
}

task_local! {
    static CURRENT: Arc<dyn Substitute>;
}

/// Has the requests of `work` use `substitute`.
pub(crate) fn scope<F: Future>(
    substitute: Arc<dyn Substitute>,
    work: F,
) -> impl Future<Output = F::Output> {
    CURRENT.scope(substitute, work)
}

/// The substitute of the current work.
pub(crate) fn current() -> Option<Arc<dyn Substitute>> {
    CURRENT.try_with(Arc::clone).ok()
}
