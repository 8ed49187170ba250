//! The hooks of a host's runtime.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;

use super::channel::{HostCallKind, HostChannel};
use crate::error::{Error, Result};
use crate::run::RunHooks;

/// Asks the host's `error_message` hook.
pub(crate) struct HostHooks {
    pub(crate) channel: Arc<HostChannel>,
}

#[async_trait]
impl RunHooks for HostHooks {
    async fn error_message(&self, error: &Error) -> Result<Option<String>> {
        let payload = json!({"name": "error_message", "error": error.to_value()});
        let answer = self.channel.call(HostCallKind::Hook, payload).await?;
        Ok(answer.as_str().map(str::to_owned))
    }
}
