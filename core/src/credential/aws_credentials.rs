//! What signs requests to AWS.

use std::fmt;
use std::time::SystemTime;

use async_trait::async_trait;

use crate::deadline::Deadline;
use crate::error::Result;
use crate::provider::Secret;

/// A key pair of AWS, with the session token of temporary ones.
///
/// ```
/// use little_ghost::credential::AwsCredentials;
///
/// let keys = AwsCredentials::new("AKIDEXAMPLE", "hush").session_token("quiet");
/// assert!(!format!("{keys:?}").contains("hush"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct AwsCredentials {
    access_key_id: Secret,
    secret_access_key: Secret,
    session_token: Option<Secret>,
    expires_at: Option<SystemTime>,
}

impl AwsCredentials {
    /// A key pair that does not expire.
    #[must_use]
    pub fn new(access_key_id: &str, secret_access_key: &str) -> Self {
        Self {
            access_key_id: Secret::new(access_key_id),
            secret_access_key: Secret::new(secret_access_key),
            session_token: None,
            expires_at: None,
        }
    }

    /// Adds the token of temporary keys; an empty one counts as none.
    #[must_use]
    pub fn session_token(mut self, token: &str) -> Self {
        self.session_token = Some(Secret::new(token)).filter(|token| !token.is_empty());
        self
    }

    /// Says when the keys stop working.
    #[must_use]
    pub fn expires_at(mut self, at: SystemTime) -> Self {
        self.expires_at = Some(at);
        self
    }

    /// Which key it is. Services show it in their logs, but it does not belong into others'.
    #[must_use]
    pub fn access_key_id(&self) -> &Secret {
        &self.access_key_id
    }

    /// What signatures are made with.
    #[must_use]
    pub fn secret_access_key(&self) -> &Secret {
        &self.secret_access_key
    }

    /// What temporary keys are sent with.
    #[must_use]
    pub fn token(&self) -> Option<&Secret> {
        self.session_token.as_ref()
    }

    /// When the keys stop working; `None` when nobody said.
    #[must_use]
    pub fn expiry(&self) -> Option<SystemTime> {
        self.expires_at
    }
}

impl fmt::Debug for AwsCredentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AwsCredentials")
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

/// Where keys for AWS come from.
///
/// ```
/// use little_ghost::credential::{AwsCredentialSource, AwsCredentials};
/// use little_ghost::{Deadline, Result, async_trait};
///
/// struct Vault;
///
/// #[async_trait]
/// impl AwsCredentialSource for Vault {
///     async fn credentials(&self, _deadline: Option<Deadline>) -> Result<AwsCredentials> {
///         Ok(AwsCredentials::new("AKIDEXAMPLE", "hush"))
///     }
/// }
/// ```
#[async_trait]
pub trait AwsCredentialSource: Send + Sync {
    /// Keys that work now. It is asked before each attempt of a request, by any number of
    /// requests at once, so it remembers what is expensive to get.
    ///
    /// # Errors
    /// [`ErrorKind::Credential`](crate::ErrorKind::Credential) when there are none, and
    /// [`ErrorKind::DeadlineExceeded`](crate::ErrorKind::DeadlineExceeded).
    async fn credentials(&self, deadline: Option<Deadline>) -> Result<AwsCredentials>;

    /// The region that is configured next to the keys, if any.
    fn region(&self) -> Option<String> {
        None
    }

    /// The service refused the keys: the source forgets what it remembers. True when the next
    /// keys may be other ones, so that one more attempt is worth it.
    fn forget(&self) -> bool {
        false
    }
}

/// Keys that never change.
#[async_trait]
impl AwsCredentialSource for AwsCredentials {
    async fn credentials(&self, _deadline: Option<Deadline>) -> Result<AwsCredentials> {
        Ok(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn keys_are_their_own_source_and_hide_themselves() {
        let keys = AwsCredentials::new(" AKIDEXAMPLE\n", "hush-hush").session_token(" ");
        assert_eq!(keys.token(), None);
        let keys = keys.session_token("quiet-quiet");
        let given = keys.credentials(None).await.unwrap();
        assert_eq!(given, keys);
        assert_eq!(given.access_key_id().expose(), "AKIDEXAMPLE");
        assert!(!keys.forget());
        let shown = format!("{keys:?}");
        for secret in ["AKIDEXAMPLE", "hush", "quiet"] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }
}
