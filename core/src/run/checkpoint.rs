//! Where a run keeps its conversation while it goes on.

use async_trait::async_trait;

use super::RunCore;
use crate::error::Result;
use crate::message::Message;

/// Keeps the conversation of a run, so that a later run can go on from it.
///
/// An agent offers its messages, system message first: after the callbacks before the invocation,
/// before each model call, after each batch of tool calls, after a repair, and with its
/// result. The same messages may be offered again.
#[async_trait]
pub(crate) trait Checkpoint: Send + Sync {
    /// Keeps `messages` and the run's state.
    ///
    /// # Errors
    /// Any; it fails the run.
    async fn save(&self, run: &RunCore, messages: &[Message]) -> Result<()>;
}
