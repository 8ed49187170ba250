//! What opens Google's services.

use std::fmt;
use std::time::SystemTime;

use async_trait::async_trait;

use crate::deadline::Deadline;
use crate::error::Result;
use crate::provider::Secret;

/// An OAuth access token.
///
/// ```
/// use little_ghost::credential::AccessToken;
///
/// assert!(!format!("{:?}", AccessToken::new("ya29.hush")).contains("hush"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken {
    token: Secret,
    quota_project: Option<String>,
    expires_at: Option<SystemTime>,
}

impl AccessToken {
    /// A token of which nobody said when it expires.
    #[must_use]
    pub fn new(token: &str) -> Self {
        Self {
            token: Secret::new(token),
            quota_project: None,
            expires_at: None,
        }
    }

    /// Says when the token stops working.
    #[must_use]
    pub fn expires_at(mut self, at: SystemTime) -> Self {
        self.expires_at = Some(at);
        self
    }

    /// Names the project whose quota pays for what the token is used for, in the header
    /// `x-goog-user-project`. Credentials of a person often need one.
    #[must_use]
    pub fn quota_project(mut self, project: impl Into<String>) -> Self {
        self.quota_project = Some(project.into());
        self
    }

    /// The token itself, which goes into the header `authorization` after `Bearer `.
    #[must_use]
    pub fn token(&self) -> &Secret {
        &self.token
    }

    /// When the token stops working; `None` when nobody said.
    #[must_use]
    pub fn expiry(&self) -> Option<SystemTime> {
        self.expires_at
    }

    /// The project for the header `x-goog-user-project`, if any.
    #[must_use]
    pub fn user_project(&self) -> Option<&str> {
        self.quota_project.as_deref()
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AccessToken")
            .field("quota_project", &self.quota_project)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

/// Where access tokens for Google come from. An [`AccessToken`] is a source that always gives
/// itself.
#[async_trait]
pub trait GoogleTokenSource: Send + Sync {
    /// A token that works now. It is asked before each attempt of a request, by any number of
    /// requests at once, so it remembers what is expensive to get.
    ///
    /// # Errors
    /// [`ErrorKind::Credential`](crate::ErrorKind::Credential) when there is none, and
    /// [`ErrorKind::DeadlineExceeded`](crate::ErrorKind::DeadlineExceeded).
    async fn access_token(&self, deadline: Option<Deadline>) -> Result<AccessToken>;

    /// The service refused the token: the source forgets what it remembers. True when the next
    /// token may be another one, so that one more attempt is worth it.
    fn forget(&self) -> bool {
        false
    }
}

/// A token that never changes.
#[async_trait]
impl GoogleTokenSource for AccessToken {
    async fn access_token(&self, _deadline: Option<Deadline>) -> Result<AccessToken> {
        Ok(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_token_is_its_own_source_and_hides_itself() {
        let token = AccessToken::new("ya29.hush").quota_project("billing");
        let given = token.access_token(None).await.unwrap();
        assert_eq!(given, token);
        assert_eq!(given.user_project(), Some("billing"));
        assert!(!token.forget());
        assert!(!format!("{token:?}").contains("hush"));
    }
}
