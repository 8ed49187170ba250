//! Keys for AWS, as the vendor's own tools find them.

mod container;
mod document;
mod environment;
mod ini;
mod instance;
mod process;
mod profiles;
mod region;
mod role;
mod search;
mod sso;
mod sso_token;
mod sts;
#[cfg(test)]
mod tests;
mod variables;
mod web_identity;
mod xml;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;

pub(crate) use region::dns_suffix;
pub(crate) use variables::VARIABLES;

use super::aws_credentials::{AwsCredentialSource, AwsCredentials};
use super::refresher::{Expiring, machine_clock};
use super::remembered::Remembered;
use crate::deadline::Deadline;
use crate::error::Result;
use crate::provider::Environment;
use profiles::Profiles;
use search::Surroundings;

/// Keys are renewed this long before they expire.
const EARLY: Duration = Duration::from_secs(5 * 60);

impl Expiring for AwsCredentials {
    fn expiry(&self) -> Option<SystemTime> {
        AwsCredentials::expiry(self)
    }
}

/// The usual places for AWS credentials, in the order of the vendor's own tools:
///
/// 1. `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, with `AWS_SESSION_TOKEN`;
/// 2. the profile, when it is a role with a `source_profile` or a `credential_source`;
/// 3. the role of a workload, by `AWS_WEB_IDENTITY_TOKEN_FILE` and `AWS_ROLE_ARN` or the profile;
/// 4. the profile's sign-in (SSO), its keys in the credentials file, its `credential_process`, its keys
///    in the config file;
/// 5. the service next to a container of ECS or EKS;
/// 6. the metadata service of an EC2 instance (version 2), unless `AWS_EC2_METADATA_DISABLED`.
///
/// The profile is the chosen one, `AWS_PROFILE`, or `default`. A source that is set up but fails ends the
/// search. Keys that expire are renewed 5 minutes earlier, once for everybody who waits; while that fails, those
/// that still work are used.
///
/// ```
/// use little_ghost::credential::{AwsCredentialChain, AwsCredentialSource};
/// use little_ghost::provider::Environment;
///
/// let environment = Environment::new(|name| (name == "AWS_REGION").then(|| "eu-central-1".into()));
/// let chain = AwsCredentialChain::new(environment).profile("billing");
/// assert_eq!(chain.region().as_deref(), Some("eu-central-1"));
/// ```
pub struct AwsCredentialChain {
    surroundings: Surroundings,
    remembered: Remembered<AwsCredentials>,
}

impl AwsCredentialChain {
    /// The chain over the variables of `environment`.
    #[must_use]
    pub fn new(environment: Environment) -> Self {
        Self {
            surroundings: Surroundings {
                environment,
                profile: None,
                credentials_file: None,
            },
            remembered: Remembered::new(EARLY, machine_clock(), VARIABLES),
        }
    }

    /// The chain over this process's own environment. All who ask for it share one, and so its keys.
    #[must_use]
    pub fn process() -> Arc<Self> {
        static SHARED: OnceLock<Arc<AwsCredentialChain>> = OnceLock::new();
        Arc::clone(SHARED.get_or_init(|| Arc::new(Self::new(Environment::process()))))
    }

    /// Takes keys from this profile, not from `AWS_ACCESS_KEY_ID` or that of `AWS_PROFILE`.
    #[must_use]
    pub fn profile(mut self, name: impl Into<String>) -> Self {
        self.surroundings.profile = Some(name.into());
        self
    }

    /// Reads this file in place of `AWS_SHARED_CREDENTIALS_FILE` or `~/.aws/credentials`.
    #[must_use]
    pub fn credentials_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.surroundings.credentials_file = Some(path.into());
        self
    }
}

#[async_trait]
impl AwsCredentialSource for AwsCredentialChain {
    async fn credentials(&self, deadline: Option<Deadline>) -> Result<AwsCredentials> {
        let refresher = self.remembered.by(&self.surroundings.environment);
        refresher
            .get(deadline, || self.surroundings.clone().search())
            .await
    }

    /// `AWS_REGION`, `AWS_DEFAULT_REGION`, or the region of the profile.
    fn region(&self) -> Option<String> {
        let environment = &self.surroundings.environment;
        region::from_environment(environment).or_else(|| {
            let (profile, _) = self.surroundings.profile();
            let profiles = Profiles::load(&self.surroundings.places()).ok()?;
            profiles.region(&profile).map(str::to_owned)
        })
    }

    fn forget(&self) -> bool {
        self.remembered.by(&self.surroundings.environment).forget()
    }
}

impl fmt::Debug for AwsCredentialChain {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AwsCredentialChain")
            .field("profile", &self.surroundings.profile)
            .field("credentials_file", &self.surroundings.credentials_file)
            .finish_non_exhaustive()
    }
}
