//! The engine's chains of credentials, as hosts ask them.
//!
//! A host's environment may be any mapping of its own, so the variables come along with each question.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::RwLock;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::HostJob;
use crate::credential::{
    AwsCredentialChain, AwsCredentialSource, GoogleTokenChain, GoogleTokenSource, variables,
};
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::provider::Environment;

/// The variables of the last question.
#[derive(Clone, Default)]
struct Variables(Arc<RwLock<HashMap<String, String>>>);

impl Variables {
    fn environment(&self) -> Environment {
        let variables = self.clone();
        Environment::new(move |name| variables.0.read().get(name).cloned())
    }

    fn set(&self, variables: HashMap<String, String>) {
        *self.0.write() = variables;
    }
}

/// When and how a host stops waiting.
#[derive(Debug, Default)]
pub struct Patience {
    /// Seconds since 1970.
    pub deadline_at: Option<f64>,
    /// Cancelled when the answer is not needed any more.
    pub token: Option<CancellationToken>,
}

impl Patience {
    fn deadline(&self) -> Option<Deadline> {
        self.deadline_at.and_then(Deadline::from_unix)
    }

    fn wait(self, work: impl Future<Output = Result<Value>> + Send + 'static) -> Result<HostJob> {
        let token = self.token.unwrap_or_default();
        HostJob::start(async move {
            tokio::select! {
                biased;
                () = token.cancelled() => Err(Error::cancelled()),
                found = work => found,
            }
        })
    }
}

/// [`AwsCredentialChain`] for a host.
pub struct HostAwsCredentials {
    variables: Variables,
    chain: Arc<AwsCredentialChain>,
}

impl HostAwsCredentials {
    /// A chain with a profile and a file in place of the usual ones.
    #[must_use]
    pub fn new(profile: Option<String>, credentials_file: Option<PathBuf>) -> Self {
        let variables = Variables::default();
        let mut chain = AwsCredentialChain::new(variables.environment());
        if let Some(profile) = profile {
            chain = chain.profile(profile);
        }
        if let Some(file) = credentials_file {
            chain = chain.credentials_file(file);
        }
        Self {
            variables,
            chain: Arc::new(chain),
        }
    }

    /// Names of the variables that matter.
    #[must_use]
    pub fn variables() -> &'static [&'static str] {
        variables::AWS
    }

    /// Starts to find keys: `{access_key_id, secret_access_key, session_token, expires_at}`, the last two or null.
    ///
    /// # Errors
    /// As [`HostJob::start`]; the answer has those of the chain.
    pub fn find(&self, variables: HashMap<String, String>, patience: Patience) -> Result<HostJob> {
        self.variables.set(variables);
        let (chain, deadline) = (Arc::clone(&self.chain), patience.deadline());
        patience.wait(async move {
            let keys = chain.credentials(deadline).await?;
            Ok(json!({
                "access_key_id": keys.access_key_id().expose(),
                "secret_access_key": keys.secret_access_key().expose(),
                "session_token": keys.token().map(|token| token.expose()),
                "expires_at": keys.expiry().map(unix),
            }))
        })
    }

    /// The region of the environment or of the profile.
    #[must_use]
    pub fn region(&self, variables: HashMap<String, String>) -> Option<String> {
        self.variables.set(variables);
        self.chain.region()
    }
}

/// [`GoogleTokenChain`] for a host.
pub struct HostGoogleCredentials {
    variables: Variables,
    now: Arc<RwLock<Option<SystemTime>>>,
    chain: Arc<GoogleTokenChain>,
}

impl Default for HostGoogleCredentials {
    fn default() -> Self {
        Self::new()
    }
}

impl HostGoogleCredentials {
    /// A chain.
    #[must_use]
    pub fn new() -> Self {
        let variables = Variables::default();
        let now = Arc::new(RwLock::new(None));
        let clock = Arc::clone(&now);
        let chain = GoogleTokenChain::new(variables.environment())
            .clock(move || clock.read().unwrap_or_else(SystemTime::now));
        Self {
            variables,
            now,
            chain: Arc::new(chain),
        }
    }

    /// Names of the variables that matter.
    #[must_use]
    pub fn variables() -> &'static [&'static str] {
        variables::GOOGLE
    }

    /// Starts to find a token: `{token, quota_project, expires_at}`, the last two or null. `now` is the time in seconds
    /// since 1970 where the host has a clock of its own.
    ///
    /// # Errors
    /// As [`HostJob::start`]; the answer has those of the chain.
    pub fn find(
        &self,
        variables: HashMap<String, String>,
        now: Option<f64>,
        patience: Patience,
    ) -> Result<HostJob> {
        self.variables.set(variables);
        *self.now.write() = now
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .and_then(|since| UNIX_EPOCH.checked_add(since));
        let (chain, deadline) = (Arc::clone(&self.chain), patience.deadline());
        patience.wait(async move {
            let token = chain.access_token(deadline).await?;
            Ok(json!({
                "token": token.token().expose(),
                "quota_project": token.user_project(),
                "expires_at": token.expiry().map(unix),
            }))
        })
    }
}

/// Seconds since 1970.
fn unix(at: SystemTime) -> f64 {
    at.duration_since(UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64())
}

impl std::fmt::Debug for HostAwsCredentials {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("HostAwsCredentials")
    }
}

impl std::fmt::Debug for HostGoogleCredentials {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("HostGoogleCredentials")
    }
}
