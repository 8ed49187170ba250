//! Parts of a provider that are objects of the host.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use serde_json::{Value, json};

use super::channel::HostCallKind;
use super::door::Door;
use super::transport::HostTransport;
use crate::credential::{AccessToken, AwsCredentialSource, AwsCredentials, GoogleTokenSource};
use crate::deadline::Deadline;
use crate::error::{Error, ErrorKind, Result};
use crate::http::Transport;
use crate::provider::Substitute;

/// What an application can put in the place of a part of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Carries requests.
    Transport,
    /// Carries requests by way of a vendor's SDK.
    Client,
    /// Waits between attempts.
    Sleeper,
    /// Is told of each new attempt.
    OnRetry,
    /// Gives credentials.
    CredentialResolver,
    /// Tells the time for signatures.
    Clock,
}

impl Part {
    /// The part that the connection option `name` is.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "transport" => Part::Transport,
            "client" => Part::Client,
            "sleeper" => Part::Sleeper,
            "on_retry" => Part::OnRetry,
            "credential_resolver" => Part::CredentialResolver,
            "clock" => Part::Clock,
            _ => return None,
        })
    }
}

/// Asks the host for its parts, for one request.
#[derive(Debug)]
pub(super) struct HostSubstitute {
    door: Door,
    parts: Arc<[Part]>,
    deadline: Option<Deadline>,
}

impl HostSubstitute {
    pub(super) fn new(door: Door, parts: Arc<[Part]>, deadline: Option<Deadline>) -> Self {
        Self {
            door,
            parts,
            deadline,
        }
    }

    fn has(&self, part: Part) -> bool {
        self.parts.contains(&part)
    }

    async fn resolved(&self, deadline: Option<Deadline>) -> Result<Value> {
        let deadline = deadline.or(self.deadline).map(|at| at.as_unix());
        self.ask(json!({"op": "credential_resolver", "deadline_at": deadline}))
            .await
    }

    async fn ask(&self, payload: Value) -> Result<Value> {
        self.door.call(HostCallKind::Provider, payload).await
    }
}

#[async_trait]
impl Substitute for HostSubstitute {
    fn transport(&self) -> Option<Arc<dyn Transport>> {
        let of_sdk = self.has(Part::Client);
        (of_sdk || self.has(Part::Transport)).then(|| {
            let door = self.door.clone();
            Arc::new(HostTransport::new(door, self.deadline, of_sdk)) as Arc<dyn Transport>
        })
    }

    async fn retrying(&self, attempt: u32, error: &Error, delay: Duration) -> Result<()> {
        if self.has(Part::OnRetry) {
            let error = error.to_value();
            let delay = delay.as_secs_f64();
            self.ask(json!({"op": "on_retry", "attempt": attempt, "error": error, "delay": delay}))
                .await?;
        }
        Ok(())
    }

    async fn pause(&self, delay: Duration) -> Result<()> {
        if self.has(Part::Sleeper) {
            self.ask(json!({"op": "sleeper", "seconds": delay.as_secs_f64()}))
                .await?;
        } else {
            tokio::time::sleep(delay).await;
        }
        Ok(())
    }

    fn aws_credentials(&self) -> Option<&dyn AwsCredentialSource> {
        self.has(Part::CredentialResolver)
            .then_some(self as &dyn AwsCredentialSource)
    }

    fn google_tokens(&self) -> Option<&dyn GoogleTokenSource> {
        self.has(Part::CredentialResolver)
            .then_some(self as &dyn GoogleTokenSource)
    }

    async fn now(&self) -> Result<SystemTime> {
        if !self.has(Part::Clock) {
            return Ok(SystemTime::now());
        }
        let told = self.ask(json!({"op": "clock"})).await?;
        told.as_f64()
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .and_then(|since| UNIX_EPOCH.checked_add(since))
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::Configuration,
                    "the clock must tell a time after 1970",
                )
            })
    }
}

/// The host answers `{access_key_id, secret_access_key, session_token?}`.
#[async_trait]
impl AwsCredentialSource for HostSubstitute {
    async fn credentials(&self, deadline: Option<Deadline>) -> Result<AwsCredentials> {
        let keys = self.resolved(deadline).await?;
        let text = |name: &str| {
            let text = keys.get(name).and_then(Value::as_str);
            text.filter(|text| !text.trim().is_empty())
        };
        let (Some(id), Some(secret)) = (text("access_key_id"), text("secret_access_key")) else {
            return Err(unusable(
                "give an object with access_key_id and secret_access_key",
            ));
        };
        Ok(
            AwsCredentials::new(id, secret)
                .session_token(text("session_token").unwrap_or_default()),
        )
    }
}

/// The host answers a token.
#[async_trait]
impl GoogleTokenSource for HostSubstitute {
    async fn access_token(&self, deadline: Option<Deadline>) -> Result<AccessToken> {
        match self.resolved(deadline).await? {
            Value::String(token) if !token.trim().is_empty() => Ok(AccessToken::new(&token)),
            _ => Err(unusable("give the token as text")),
        }
    }
}

fn unusable(expected: &str) -> Error {
    Error::new(
        ErrorKind::Credential,
        format!("the credential_resolver gave no credentials: it must {expected}"),
    )
}
