//! Google's Gemini API.

use async_trait::async_trait;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use super::Provider;
use super::adapter::AdapterRequest;
use super::attempt::Call;
use super::authorizer::Authorizer;
use super::options::Options;
use super::secret::Secret;
use crate::error::{Error, ErrorKind, Result};
use crate::http::{Endpoint, Framing, Post, RetryPolicy};
use crate::model::{ModelRequest, ModelResponse};
use crate::protocol::gemini::{GeminiDecoder, METHOD, Traits, render_request};
use crate::protocol::schema_dialect::{Dialect, reduce};
use crate::protocol::{Decoder, body_bytes};
use crate::run::EventSender;

/// The API's address.
const DEFAULT_BASE_URL: &str = "https://generativelanguage.googleapis.com/v1beta/";

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
];

/// The header that carries the key; in the URL it would end up in logs.
pub(super) const KEY_HEADER: HeaderName = HeaderName::from_static("x-goog-api-key");

/// A connection to the Gemini API, bound to one model.
pub struct Gemini {
    model: String,
    traits: Traits,
    post: Post,
    retry: RetryPolicy,
    secrets: Vec<Secret>,
    authorizer: Option<Box<dyn Authorizer>>,
}

impl Gemini {
    /// Builds the connection from its options.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for an unknown or invalid option and for a name that can be no
    /// model's, [`ErrorKind::Credential`] for a missing key.
    pub fn new(request: &AdapterRequest<'_>) -> Result<Self> {
        let options = Options::new(request.connection, "gemini", request.options, OPTIONS)?;
        let base_url = options.text("base_url")?.unwrap_or(DEFAULT_BASE_URL);
        let path = path(request)?;
        let gemini = Self::at(request, &options, base_url, &path)?;
        if gemini.is_open() {
            return Ok(gemini);
        }
        Err(Error::new(
            ErrorKind::Credential,
            format!(
                "connection {:?} has no credential: set its option api_key. Only a base_url on this \
                 machine works without one",
                request.connection
            ),
        ))
    }

    /// Builds a connection whose methods are at `path` of `base_url`.
    pub(super) fn at(
        request: &AdapterRequest<'_>,
        options: &Options<'_>,
        base_url: &str,
        path: &str,
    ) -> Result<Self> {
        let endpoint = Endpoint::new(
            request.connection,
            base_url,
            &format!("{path}:{METHOD}"),
            options.flag("allow_insecure_http")?,
        )?
        .with_query("alt", "sse");
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        let key = options.secret("api_key")?;
        if let Some(key) = &key {
            headers.insert(KEY_HEADER, options.header_value("api_key", key.expose())?);
        }
        let configured = options.headers()?;
        let secrets = Options::secrets(key, &configured);
        for (name, value) in &configured {
            headers.insert(name.clone(), value.clone());
        }
        Ok(Self {
            model: request.model.to_owned(),
            traits: Traits::of(request.model),
            post: Post {
                endpoint,
                headers,
                limits: options.limits()?,
            },
            retry: options.retry()?,
            secrets,
            authorizer: None,
        })
    }

    /// Proves who asks by `authorizer`, which takes what it needs from `option`.
    pub(super) fn set_authorizer(
        &mut self,
        option: &'static str,
        authorizer: impl Authorizer + 'static,
    ) {
        self.post.endpoint = self.post.endpoint.clone().with_proof(option);
        self.authorizer = Some(Box::new(authorizer));
    }

    /// Whether requests can be sent without anything else that proves who asks.
    pub(super) fn is_open(&self) -> bool {
        let headers = &self.post.headers;
        self.post.endpoint.is_loopback()
            || headers.contains_key(KEY_HEADER)
            || headers.contains_key(reqwest::header::AUTHORIZATION)
    }

    /// The model's identifier at the service.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }
}

/// The model's place under the base URL: a bare name is one of `models/`.
fn path(request: &AdapterRequest<'_>) -> Result<String> {
    let id = checked(request)?;
    match id.split_once('/') {
        None => Ok(format!("models/{id}")),
        Some(("models" | "tunedModels", _)) => Ok(id.to_owned()),
        Some(_) => Err(Error::new(
            ErrorKind::Configuration,
            format!(
                "model {id:?} of connection {:?} is none of the Gemini API's: write its name, such \
                 as \"gemini-3-flash-preview\", or use the adapter vertex_ai for models of a project",
                request.connection
            ),
        )),
    }
}

/// The model's identifier, if it can stand in a path.
pub(super) fn checked<'a>(request: &AdapterRequest<'a>) -> Result<&'a str> {
    let id = request.model;
    let whole = id.split('/').all(|part| {
        !part.is_empty()
            && part != "."
            && part != ".."
            && !part.contains(|letter: char| {
                letter.is_whitespace() || letter.is_control() || "?#&\\%".contains(letter)
            })
    });
    if whole {
        return Ok(id);
    }
    Err(Error::new(
        ErrorKind::Configuration,
        format!(
            "model {id:?} of connection {:?} is no model's name",
            request.connection
        ),
    ))
}

impl std::fmt::Debug for Gemini {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Gemini")
            .field("model", &self.model)
            .field("endpoint", &self.post.endpoint)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Provider for Gemini {
    fn unsupported_schema(&self, schema: &Value) -> Vec<String> {
        reduce(Dialect::Gemini, schema).dropped
    }

    async fn stream(&self, request: &ModelRequest, events: &EventSender) -> Result<ModelResponse> {
        let body = render_request(request, self.traits)?;
        let call = Call {
            post: &self.post,
            body: body_bytes(body),
            deadline: request.deadline,
            retry: self.retry,
            secrets: &self.secrets,
            authorizer: self.authorizer.as_deref(),
            framing: Framing::ServerSentEvents,
            events,
        };
        call.run(|| -> Box<dyn Decoder> {
            Box::new(GeminiDecoder::new(&self.model).answering(request, self.traits))
        })
        .await
    }
}
