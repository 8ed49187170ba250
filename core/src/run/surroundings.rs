//! What an application decides about its runs.

use async_trait::async_trait;

use crate::error::{Error, Result};

/// What an application may decide about each of its runs.
#[async_trait]
pub(crate) trait RunHooks: Send + Sync {
    /// The text for callers about a failure, if the application has its own.
    async fn error_message(&self, error: &Error) -> Result<Option<String>>;
}
