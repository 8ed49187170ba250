//! Anthropic, and services that speak its Messages format.

use async_trait::async_trait;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

use super::Provider;
use super::adapter::AdapterRequest;
use super::attempt::Call;
use super::options::Options;
use super::secret::Secret;
use crate::error::{Error, ErrorKind, Result};
use crate::http::{Endpoint, Framing, Post, RetryPolicy};
use crate::model::{ModelCapabilities, ModelRequest, ModelResponse};
use crate::protocol::anthropic::{MessagesDecoder, PATH, Thinking, render_request};
use crate::protocol::body_bytes;
use crate::protocol::schema_dialect::{Dialect, reduce};
use crate::run::EventSender;

/// The API's address.
const DEFAULT_BASE_URL: &str = "https://api.anthropic.com/v1/";

/// The version of the API that requests are written for.
const DEFAULT_API_VERSION: &str = "2023-06-01";

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const API_VERSION: HeaderName = HeaderName::from_static("anthropic-version");

/// A connection to Anthropic, bound to one model.
pub struct Anthropic {
    model: String,
    thinking: Thinking,
    post: Post,
    retry: RetryPolicy,
    secrets: Vec<Secret>,
}

impl Anthropic {
    /// Builds the connection from its options: `api_key`, `base_url`, `api_version`, `headers`,
    /// `open_timeout` and `read_timeout` in seconds, `max_response_bytes`, `max_retries`,
    /// `max_retry_delay` in seconds, `allow_insecure_http`. Others are passed over.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for an invalid option, [`ErrorKind::Credential`] for a missing
    /// key.
    pub fn new(request: &AdapterRequest<'_>) -> Result<Self> {
        let options = Options::lenient(request.connection, request.options);
        let endpoint = Endpoint::new(
            request.connection,
            options.text("base_url")?.unwrap_or(DEFAULT_BASE_URL),
            PATH,
            options.flag("allow_insecure_http")?,
        )?;
        let configured = options.headers()?;
        let key = options.secret("api_key")?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        let version = options.text("api_version")?.unwrap_or(DEFAULT_API_VERSION);
        headers.insert(API_VERSION, options.header_value("api_version", version)?);
        match &key {
            Some(key) => {
                headers.insert(API_KEY, options.header_value("api_key", key.expose())?);
            }
            None if endpoint.is_loopback() || authenticates(&configured) => {}
            None => return Err(missing_key(request.connection)),
        }
        let secrets = Options::secrets(key, &configured);
        for (name, value) in &configured {
            headers.insert(name.clone(), value.clone());
        }
        Ok(Self {
            model: request.model.to_owned(),
            thinking: Thinking::of(request.model),
            post: Post {
                endpoint,
                headers,
                limits: options.limits()?,
            },
            retry: options.retry()?,
            secrets,
        })
    }

    /// The model's identifier at the service.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Every model takes tools; schemas of the answer are taken by those whose details say so.
    pub(super) fn capabilities_of(details: &Map<String, Value>) -> ModelCapabilities {
        ModelCapabilities {
            tools: true,
            tool_choice: true,
            known: true,
            ..ModelCapabilities::from_details(details)
        }
    }
}

impl std::fmt::Debug for Anthropic {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Anthropic")
            .field("model", &self.model)
            .field("endpoint", &self.post.endpoint)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Provider for Anthropic {
    fn capabilities(&self, metadata: &Map<String, Value>) -> ModelCapabilities {
        Self::capabilities_of(metadata)
    }

    fn unsupported_schema(&self, schema: &Value) -> Vec<String> {
        reduce(Dialect::Anthropic, schema).dropped
    }

    async fn stream(&self, request: &ModelRequest, events: &EventSender) -> Result<ModelResponse> {
        let body = render_request(&self.model, request, self.thinking)?;
        let call = Call {
            post: &self.post,
            body: body_bytes(body),
            deadline: request.deadline,
            retry: self.retry,
            secrets: &self.secrets,
            authorizer: None,
            framing: Framing::ServerSentEvents,
            events,
        };
        call.run(|| Box::new(MessagesDecoder::new(&self.model)))
            .await
    }
}

/// Whether configured headers take the place of a key.
fn authenticates(headers: &HeaderMap) -> bool {
    headers.contains_key(AUTHORIZATION) || headers.contains_key(API_KEY)
}

fn missing_key(connection: &str) -> Error {
    Error::new(
        ErrorKind::Credential,
        format!(
            "connection {connection:?} has no credential: set its option api_key, for example to \
             the environment variable ANTHROPIC_API_KEY. Only a base_url on this machine works \
             without one"
        ),
    )
}
