//! OpenAI's own service.

use async_trait::async_trait;
use reqwest::header::HeaderMap;
use serde_json::Value;

use super::Provider;
use super::adapter::AdapterRequest;
use super::credentials::OPENAI_VARIABLES;
use super::openai_compatible::{OPTIONS, OpenAiCompatible, Service};
use crate::error::Result;
use crate::model::{ModelRequest, ModelResponse};
use crate::protocol::{chat_completions, responses};
use crate::run::EventSender;

/// The API's address.
pub(super) const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1/";

const SERVICE: Service = Service {
    adapter: "openai",
    options: OPTIONS,
    default_base_url: DEFAULT_BASE_URL,
    api: None,
    variables: OPENAI_VARIABLES,
    chat: chat_completions::Quirks {
        reasoning: chat_completions::ReasoningField::Effort,
        replay_reasoning: false,
        cache: chat_completions::CacheMarker::None,
    },
    responses: responses::Quirks {
        encrypted_reasoning: true,
    },
};

/// A connection to OpenAI, bound to one model.
#[derive(Debug)]
pub struct OpenAi(OpenAiCompatible);

impl OpenAi {
    /// Builds the connection from its options.
    ///
    /// # Errors
    /// As [`OpenAiCompatible::new`].
    pub fn new(request: &AdapterRequest<'_>) -> Result<Self> {
        OpenAiCompatible::for_service(request, &SERVICE, HeaderMap::new()).map(Self)
    }
}

#[async_trait]
impl Provider for OpenAi {
    fn unsupported_schema(&self, schema: &Value) -> Vec<String> {
        self.0.unsupported_schema(schema)
    }

    async fn stream(&self, request: &ModelRequest, events: &EventSender) -> Result<ModelResponse> {
        self.0.stream(request, events).await
    }
}
