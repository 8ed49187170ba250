//! OpenRouter: one key for the models of many vendors.

use async_trait::async_trait;
use reqwest::header::{HeaderMap, HeaderName};
use serde_json::{Map, Value, json};

use super::Provider;
use super::adapter::AdapterRequest;
use super::credentials::OPENROUTER_VARIABLES;
use super::openai_compatible::{Api, OpenAiCompatible, Service};
use super::options::Options;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{ModelCapabilities, ModelRequest, ModelResponse};
use crate::protocol::chat_completions::{CacheMarker, Quirks, ReasoningField};
use crate::protocol::responses;
use crate::run::EventSender;

const OPTIONS: &[&str] = &[
    "api_key",
    "base_url",
    "headers",
    "open_timeout",
    "read_timeout",
    "allow_insecure_http",
    "max_response_bytes",
    "max_retries",
    "max_retry_delay",
    "site_url",
    "app_name",
];

const QUIRKS: Quirks = Quirks {
    reasoning: ReasoningField::Object,
    replay_reasoning: true,
    cache: CacheMarker::None,
};

const SERVICE: Service = Service {
    adapter: "openrouter",
    options: OPTIONS,
    default_base_url: "https://openrouter.ai/api/v1/",
    api: Some(Api::ChatCompletions),
    variables: OPENROUTER_VARIABLES,
    chat: QUIRKS,
    responses: responses::Quirks {
        encrypted_reasoning: false,
    },
};

/// Model families that cache what a marker in the instructions ends.
const MARKED_FAMILIES: &[&str] = &[
    "google/gemini",
    "qwen/qwen3-max",
    "qwen/qwen-plus",
    "qwen/qwen3.6-plus",
    "qwen/qwen3-coder-plus",
    "qwen/qwen3-coder-flash",
    "deepseek/deepseek-v3.2",
];

/// Settings that are dropped when routing must guarantee something and the model lacks them.
const FILTERED: &[&str] = &[
    "temperature",
    "top_p",
    "max_tokens",
    "max_completion_tokens",
    "stop",
    "stop_sequences",
    "seed",
    "reasoning",
    "reasoning_effort",
];

/// Characters of a session id that the service takes.
const MAX_SESSION_ID: usize = 256;

/// A connection to OpenRouter, bound to one model.
#[derive(Debug)]
pub struct OpenRouter(OpenAiCompatible);

impl OpenRouter {
    /// Builds the connection from its options.
    ///
    /// # Errors
    /// As [`OpenAiCompatible::new`].
    pub fn new(request: &AdapterRequest<'_>) -> Result<Self> {
        let options = Options::new(
            request.connection,
            SERVICE.adapter,
            request.options,
            SERVICE.options,
        )?;
        let mut headers = HeaderMap::new();
        for (option, header) in [("site_url", "http-referer"), ("app_name", "x-title")] {
            if let Some(text) = options.text(option)? {
                let value = options.header_value(option, text)?;
                headers.insert(HeaderName::from_static(header), value);
            }
        }
        let mut inner = OpenAiCompatible::for_service(request, &SERVICE, headers)?;
        inner.set_chat_quirks(Quirks {
            cache: cache_marker(request.model),
            ..QUIRKS
        });
        Ok(Self(inner))
    }

    /// Adds what only this service understands.
    fn extend(request: &ModelRequest, body: &mut Map<String, Value>) -> Result<HeaderMap> {
        let mut headers = HeaderMap::new();
        if request.output_schema.is_some() || !request.required_capabilities.is_empty() {
            // Routes to services that honour every parameter instead of ignoring some.
            body.entry("provider")
                .or_insert_with(|| json!({"require_parameters": true}));
        }
        let session = request.settings.get("session_id");
        if let Some(session) = session.filter(|session| !session.is_null()) {
            let value = session
                .as_str()
                .filter(|id| id.chars().count() <= MAX_SESSION_ID)
                .and_then(|id| id.parse().ok())
                .ok_or_else(|| {
                    Error::new(
                        ErrorKind::Configuration,
                        format!(
                            "the setting session_id must be a string of at most \
                             {MAX_SESSION_ID} characters that a header can carry"
                        ),
                    )
                })?;
            body.entry("session_id").or_insert_with(|| session.clone());
            headers.insert(HeaderName::from_static("x-session-id"), value);
        }
        Ok(headers)
    }
}

fn cache_marker(model: &str) -> CacheMarker {
    if model.starts_with("anthropic/") || model.starts_with("~anthropic/") {
        CacheMarker::Request
    } else if MARKED_FAMILIES
        .iter()
        .any(|family| model.starts_with(family))
    {
        CacheMarker::Instructions
    } else {
        CacheMarker::None
    }
}

#[async_trait]
impl Provider for OpenRouter {
    fn capabilities(&self, metadata: &Map<String, Value>) -> ModelCapabilities {
        ModelCapabilities::from_details(metadata)
    }

    fn prepare_request(
        &self,
        mut request: ModelRequest,
        capabilities: &ModelCapabilities,
    ) -> ModelRequest {
        let Some(supported) = &capabilities.supported_parameters else {
            return request;
        };
        let has = |name: &str| supported.iter().any(|parameter| parameter == name);
        // Newer models only take the newer name.
        if has("max_completion_tokens")
            && !has("max_tokens")
            && let Some(limit) = request.settings.shift_remove("max_tokens")
        {
            request
                .settings
                .entry("max_completion_tokens")
                .or_insert(limit);
        }
        if !request.required_capabilities.is_empty() {
            request.settings.retain(|name, _| {
                let alias = match name.as_str() {
                    "reasoning_effort" => "reasoning",
                    "stop_sequences" => "stop",
                    name => name,
                };
                !FILTERED.contains(&name.as_str()) || has(name) || has(alias)
            });
        }
        request
    }

    fn unsupported_schema(&self, schema: &Value) -> Vec<String> {
        self.0.unsupported_schema(schema)
    }

    async fn stream(&self, request: &ModelRequest, events: &EventSender) -> Result<ModelResponse> {
        let mut body = self.0.render(request)?;
        let headers = Self::extend(request, &mut body)?;
        self.0.send(request, body, headers, events).await
    }
}
