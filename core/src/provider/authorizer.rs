//! Proof of who asks, where it is more than a constant header.

use async_trait::async_trait;
use bytes::Bytes;

use super::secret::Secret;
use crate::deadline::Deadline;
use crate::error::Result;
use crate::http::Post;

/// Adds to each attempt of a request what proves who sends it: a token that expires, or a signature over the bytes.
///
/// It is asked for every attempt, because a pause before a retry may outlive both.
#[async_trait]
pub(crate) trait Authorizer: Send + Sync {
    /// Completes the headers of `post`, which is sent with `body`, and returns the secrets that
    /// it added, so that no error repeats them.
    ///
    /// # Errors
    /// [`ErrorKind::Credential`](crate::ErrorKind::Credential) when there is nothing to prove it
    /// with, and [`ErrorKind::Http`](crate::ErrorKind::Http) when a service that issues
    /// credentials cannot be reached.
    async fn authorize(
        &self,
        post: &mut Post,
        body: &Bytes,
        deadline: Option<Deadline>,
    ) -> Result<Vec<Secret>>;

    /// The service refused what [`authorize`](Self::authorize) added: whether fresh credentials
    /// are worth one more attempt. It forgets what it had cached.
    fn refused(&self) -> bool {
        false
    }
}
