//! An executable model.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::{Provider, modality};
use crate::catalog::ModelDetails;
use crate::error::Result;
use crate::model::{Model, ModelCapabilities, ModelRequest, ModelResponse, ModelStream};
use crate::protocol::settings::{LIMITS, check, overlay};
use crate::run::EventSender;

/// A provider bound to a model, with the settings of the profile that selected it.
pub struct ResolvedModel {
    target: String,
    model_id: String,
    role: Option<String>,
    provider: Arc<dyn Provider>,
    settings: Map<String, Value>,
    details: ModelDetails,
    capabilities: ModelCapabilities,
}

impl ResolvedModel {
    pub(super) fn new(
        target: &super::target::Target,
        role: Option<String>,
        provider: Arc<dyn Provider>,
        mut settings: Map<String, Value>,
        details: ModelDetails,
    ) -> Self {
        clamp(&mut settings, &details);
        Self {
            target: target.canonical(),
            model_id: target.model.clone(),
            role,
            capabilities: provider.capabilities(details.attributes()),
            provider,
            settings,
            details,
        }
    }

    /// Settings of the profile or of the inline selection, which every request starts from.
    #[must_use]
    pub fn settings(&self) -> &Map<String, Value> {
        &self.settings
    }

    /// The connection behind the model.
    #[must_use]
    pub fn provider(&self) -> &Arc<dyn Provider> {
        &self.provider
    }

    /// What is known about the model.
    #[must_use]
    pub fn model_details(&self) -> &ModelDetails {
        &self.details
    }

    /// Sends a request and waits for its whole response; a [`ModelStream`] has its events too.
    ///
    /// # Errors
    /// As [`Model::stream`].
    pub async fn complete(self: &Arc<Self>, request: ModelRequest) -> Result<ModelResponse> {
        ModelStream::new(Arc::clone(self), request).finish().await
    }

    /// The request with the profile's settings under its own.
    fn prepared(&self, request: &ModelRequest) -> Result<ModelRequest> {
        let mut settings = self.settings.clone();
        overlay(&mut settings, &request.settings);
        check(&settings)?;
        clamp(&mut settings, &self.details);
        let request = ModelRequest {
            settings,
            ..request.clone()
        };
        Ok(self.provider.prepare_request(request, &self.capabilities))
    }
}

/// Keeps the limit of an answer, whatever its name, within what the model can produce.
pub(super) fn clamp(settings: &mut Map<String, Value>, details: &ModelDetails) {
    let Some(most) = details.max_output_tokens() else {
        return;
    };
    for name in LIMITS {
        if let Some(limit) = settings.get_mut(name)
            && limit.as_u64().is_some_and(|limit| limit > most)
        {
            *limit = json!(most);
        }
    }
}

impl fmt::Debug for ResolvedModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ResolvedModel")
            .field("target", &self.target)
            .field("role", &self.role)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Model for ResolvedModel {
    fn target(&self) -> &str {
        &self.target
    }

    fn model_id(&self) -> &str {
        &self.model_id
    }

    fn role(&self) -> Option<&str> {
        self.role.as_deref()
    }

    fn capabilities(&self) -> ModelCapabilities {
        self.capabilities.clone()
    }

    fn details(&self) -> Map<String, Value> {
        if self.details.is_known() {
            self.details.metadata()
        } else {
            Map::new()
        }
    }

    fn unsupported_schema(&self, schema: &Value) -> Vec<String> {
        self.provider.unsupported_schema(schema)
    }

    async fn stream(&self, request: &ModelRequest, events: &EventSender) -> Result<ModelResponse> {
        modality::check(&request.messages, &self.details)?;
        self.provider.stream(&self.prepared(request)?, events).await
    }
}
