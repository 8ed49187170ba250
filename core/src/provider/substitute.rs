//! What an application put in the place of parts of a provider.
//!
//! Providers are shared by all that use a connection, while a substitute belongs to whoever asks: it is found
//! through the task that sends the request. Without any, a request costs one look at a thread-local.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use tokio::task_local;
use tokio::time::sleep;

use crate::credential::{AccessToken, AwsCredentialSource, AwsCredentials, GoogleTokenSource};
use crate::deadline::Deadline;
use crate::error::{Error, ErrorKind, Result};
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

    /// What signs the attempts of the request instead of the provider's own keys.
    fn aws_credentials(&self) -> Option<&dyn AwsCredentialSource> {
        None
    }

    /// What gives the attempts of the request their tokens instead of the provider's own source.
    fn google_tokens(&self) -> Option<&dyn GoogleTokenSource> {
        None
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

/// Credentials that come from the substitute of whoever sends the request. The connection option
/// `credential_resolver: true` stands for them.
#[derive(Debug)]
pub(crate) struct SubstituteCredentials;

#[async_trait]
impl GoogleTokenSource for SubstituteCredentials {
    async fn access_token(&self, deadline: Option<Deadline>) -> Result<AccessToken> {
        let substitute = current().ok_or_else(absent)?;
        let source = substitute.google_tokens().ok_or_else(absent)?;
        source.access_token(deadline).await
    }
}

#[async_trait]
impl AwsCredentialSource for SubstituteCredentials {
    async fn credentials(&self, deadline: Option<Deadline>) -> Result<AwsCredentials> {
        let substitute = current().ok_or_else(absent)?;
        let source = substitute.aws_credentials().ok_or_else(absent)?;
        source.credentials(deadline).await
    }
}

fn absent() -> Error {
    Error::new(
        ErrorKind::Credential,
        "credential_resolver must be an object of the application that is called for credentials; \
         a configuration file cannot hold one",
    )
}
