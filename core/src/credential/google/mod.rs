//! Access tokens for Google, as the vendor's own libraries find them.

mod authorized_user;
mod file;
mod grant;
mod jwt;
mod metadata;
mod search;
mod service_account;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;

use super::access_token::{AccessToken, GoogleTokenSource};
use super::refresher::{Clock, Expiring, machine_clock};
use super::remembered::Remembered;
use crate::deadline::Deadline;
use crate::error::Result;
use crate::provider::Environment;
use search::search;

/// Every variable that is read here.
pub(crate) const VARIABLES: &[&str] = &[
    "HOME",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "CLOUDSDK_CONFIG",
    "GOOGLE_CLOUD_QUOTA_PROJECT",
    "GCE_METADATA_HOST",
    "GCE_METADATA_ROOT",
    "NO_GCE_CHECK",
];

/// Tokens are renewed this long before they expire.
const EARLY: Duration = Duration::from_secs(60);

/// What tokens are asked for.
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";

impl Expiring for AccessToken {
    fn expiry(&self) -> Option<SystemTime> {
        AccessToken::expiry(self)
    }
}

/// The usual places for Google credentials ("application default credentials"):
///
/// 1. the file that `GOOGLE_APPLICATION_CREDENTIALS` names;
/// 2. the file that `gcloud auth application-default login` writes;
/// 3. the metadata server of Google Cloud, unless `NO_GCE_CHECK` is true.
///
/// A file may hold a service account or an authorized user. A source that is there but fails ends the search.
/// Tokens are renewed a minute before they expire, once for everybody who waits. Whoever has a token already
/// uses an [`AccessToken`] as the source.
///
/// ```
/// use little_ghost::credential::GoogleTokenChain;
/// use little_ghost::provider::Environment;
///
/// let chain = GoogleTokenChain::new(Environment::process());
/// # let _ = chain;
/// ```
pub struct GoogleTokenChain {
    environment: Environment,
    clock: Clock,
    remembered: Remembered<AccessToken>,
}

impl GoogleTokenChain {
    /// The chain over the variables of `environment`.
    #[must_use]
    pub fn new(environment: Environment) -> Self {
        Self {
            environment,
            clock: machine_clock(),
            remembered: Remembered::new(EARLY, machine_clock(), VARIABLES),
        }
    }

    /// Tells the time by `clock`, which proofs are made for and tokens expire by.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(clock);
        self.remembered = Remembered::new(EARLY, Arc::clone(&self.clock), VARIABLES);
        self
    }

    /// The chain over this process's own environment. All who ask for it share one, and so its token.
    #[must_use]
    pub fn process() -> Arc<Self> {
        static SHARED: OnceLock<Arc<GoogleTokenChain>> = OnceLock::new();
        Arc::clone(SHARED.get_or_init(|| Arc::new(Self::new(Environment::process()))))
    }
}

#[async_trait]
impl GoogleTokenSource for GoogleTokenChain {
    async fn access_token(&self, deadline: Option<Deadline>) -> Result<AccessToken> {
        let refresher = self.remembered.by(&self.environment);
        refresher
            .get(deadline, || {
                search(self.environment.clone(), Arc::clone(&self.clock))
            })
            .await
    }

    fn forget(&self) -> bool {
        self.remembered.by(&self.environment).forget()
    }
}

impl fmt::Debug for GoogleTokenChain {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("GoogleTokenChain")
    }
}
