//! Conversations that outgrow the model's context window.

mod compaction;
mod options;
mod transcript;

pub use options::ContextManagement;

use async_trait::async_trait;
use serde_json::json;

use super::callback::{AfterModelError, BeforeModel, Callbacks, Decision};
use crate::error::{Error, ErrorKind, Result};
use crate::model::ModelRequest;
use crate::tool::RunContext;
use compaction::Compaction;

/// [`ContextManagement`] at work.
pub(crate) struct ContextManager {
    options: ContextManagement,
}

impl ContextManager {
    pub(crate) fn new(options: ContextManagement) -> Self {
        Self { options }
    }

    /// The request with its older messages summarised.
    async fn compact(
        &self,
        request: &ModelRequest,
        reason: &'static str,
        context: &RunContext,
    ) -> Result<ModelRequest> {
        let conversation = context.conversation();
        let compacted = Compaction {
            options: &self.options,
            conversation,
            request,
        }
        .run()
        .await;
        let attributes = match &compacted {
            Ok(compacted) => json!({
                "reason": reason,
                "removed_messages": request.messages.len() + 1 - compacted.len(),
                "estimated_tokens": compaction::estimate(request),
                "context_window_tokens": self.options.window(&conversation.agent.model.details()),
            }),
            Err(error) => json!({
                "reason": reason, "outcome": "error", "error_class": error.class_name(),
            }),
        };
        conversation.notify("context_compaction", attributes);
        Ok(ModelRequest {
            messages: compacted?.into(),
            ..request.clone()
        })
    }
}

#[async_trait]
impl Callbacks for ContextManager {
    async fn before_model(
        &self,
        payload: &BeforeModel,
        context: &RunContext,
    ) -> Result<Decision<ModelRequest>> {
        let details = context.conversation().agent.model.details();
        if !self
            .options
            .is_full(compaction::estimate(&payload.request), &details)
        {
            return Ok(Decision::Continue);
        }
        match self.compact(&payload.request, "threshold", context).await {
            Ok(request) => Ok(Decision::Replace(request)),
            Err(error) if is_control(&error) => Err(error),
            // The request may fit after all; if not, the provider says so.
            Err(error) => {
                let problem = json!({
                    "agent_id": *context.conversation().agent.id, "error_type": error.class_name(),
                });
                let run = &context.conversation().run;
                run.warn("little_ghost.context_management.compaction_failed", problem);
                Ok(Decision::Continue)
            }
        }
    }

    async fn after_model_error(
        &self,
        payload: &AfterModelError,
        context: &RunContext,
    ) -> Result<Decision<ModelRequest>> {
        if !payload.error.is(ErrorKind::ContextWindowOverflow) {
            return Ok(Decision::Continue);
        }
        match self.compact(&payload.request, "overflow", context).await {
            Ok(request) => Ok(Decision::Replace(request)),
            Err(error) if is_control(&error) => Err(error),
            // The provider's own error says best what is wrong.
            Err(_) => Ok(Decision::Continue),
        }
    }
}

fn is_control(error: &Error) -> bool {
    [
        ErrorKind::Cancelled,
        ErrorKind::DeadlineExceeded,
        ErrorKind::Cleanup,
    ]
    .iter()
    .any(|kind| error.is(*kind))
}
