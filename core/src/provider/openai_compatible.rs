//! Services that speak an OpenAI format.

use async_trait::async_trait;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::{Map, Value};

use super::Provider;
use super::adapter::AdapterRequest;
use super::attempt::Call;
use super::options::Options;
use super::secret::Secret;
use crate::error::{Error, ErrorKind, Result};
use crate::http::{Endpoint, Framing, Post, RetryPolicy};
use crate::model::{ModelRequest, ModelResponse};
use crate::protocol::schema_dialect::{Dialect, reduce};
use crate::protocol::{Decoder, body_bytes, chat_completions, responses};
use crate::run::EventSender;

/// The wire formats of OpenAI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Api {
    /// The Responses API. This is the default.
    #[default]
    Responses,
    /// The Chat Completions API, which most other services speak.
    ChatCompletions,
}

impl Api {
    /// The name in configurations: `"responses"` or `"chat_completions"`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Api::Responses => "responses",
            Api::ChatCompletions => "chat_completions",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        [Api::Responses, Api::ChatCompletions]
            .into_iter()
            .find(|api| api.as_str() == name)
    }
}

/// Options of the adapters that take every one of them.
pub(super) const OPTIONS: &[&str] = &[
    "api_key",
    "base_url",
    "api",
    "headers",
    "open_timeout",
    "read_timeout",
    "allow_insecure_http",
    "max_response_bytes",
    "max_retries",
    "max_retry_delay",
];

/// What distinguishes one OpenAI-style service from another.
pub(super) struct Service {
    pub(super) adapter: &'static str,
    pub(super) options: &'static [&'static str],
    pub(super) default_base_url: &'static str,
    /// The only format the service has; `None` leaves it to the option `api`.
    pub(super) api: Option<Api>,
    /// Environment variables that hold its key, for messages.
    pub(super) variables: &'static [&'static str],
    pub(super) chat: chat_completions::Quirks,
    pub(super) responses: responses::Quirks,
}

/// OpenAI-style service at any address.
const SERVICE: Service = Service {
    adapter: "openai_compatible",
    options: OPTIONS,
    default_base_url: super::openai::DEFAULT_BASE_URL,
    api: None,
    variables: &[],
    chat: chat_completions::Quirks {
        reasoning: chat_completions::ReasoningField::Effort,
        replay_reasoning: false,
        cache: chat_completions::CacheMarker::None,
    },
    responses: responses::Quirks {
        encrypted_reasoning: false,
    },
};

/// A connection to an OpenAI-style service, bound to one model.
pub struct OpenAiCompatible {
    model: String,
    api: Api,
    post: Post,
    retry: RetryPolicy,
    secrets: Vec<Secret>,
    chat: chat_completions::Quirks,
    responses: responses::Quirks,
}

impl OpenAiCompatible {
    /// Builds the connection from its options.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for an unknown or invalid option, [`ErrorKind::Credential`]
    /// for a missing key.
    pub fn new(request: &AdapterRequest<'_>) -> Result<Self> {
        Self::for_service(request, &SERVICE, HeaderMap::new())
    }

    /// Builds the connection of a particular service. `extra` headers go over configured ones.
    pub(super) fn for_service(
        request: &AdapterRequest<'_>,
        service: &Service,
        extra: HeaderMap,
    ) -> Result<Self> {
        let options = Options::new(
            request.connection,
            service.adapter,
            request.options,
            service.options,
        )?;
        let api = match service.api {
            Some(api) => api,
            None => options.api()?,
        };
        let endpoint = Endpoint::new(
            request.connection,
            options
                .text("base_url")?
                .unwrap_or(service.default_base_url),
            match api {
                Api::Responses => responses::PATH,
                Api::ChatCompletions => chat_completions::PATH,
            },
            options.flag("allow_insecure_http")?,
        )?;
        let endpoint = match service.api {
            Some(_) => endpoint,
            None => endpoint.with_choice_of_format(),
        };
        let configured = options.headers()?;
        let key = options.secret("api_key")?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        match &key {
            Some(key) => {
                let bearer = format!("Bearer {}", key.expose());
                headers.insert(AUTHORIZATION, options.header_value("api_key", &bearer)?);
            }
            None if endpoint.is_loopback() || authenticates(&configured) => {}
            None => return Err(missing_key(request.connection, service)),
        }
        let secrets = Options::secrets(key, &configured);
        for (name, value) in configured.iter().chain(extra.iter()) {
            headers.insert(name.clone(), value.clone());
        }
        Ok(Self {
            model: request.model.to_owned(),
            api,
            post: Post {
                endpoint,
                headers,
                limits: options.limits()?,
            },
            retry: options.retry()?,
            secrets,
            chat: service.chat,
            responses: service.responses,
        })
    }

    /// The model's identifier at the service.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The wire format.
    #[must_use]
    pub fn api(&self) -> Api {
        self.api
    }

    pub(super) fn set_chat_quirks(&mut self, quirks: chat_completions::Quirks) {
        self.chat = quirks;
    }

    pub(super) fn render(&self, request: &ModelRequest) -> Result<Map<String, Value>> {
        match self.api {
            Api::Responses => responses::render_request(&self.model, request, self.responses),
            Api::ChatCompletions => {
                chat_completions::render_request(&self.model, request, self.chat)
            }
        }
    }

    /// Sends a rendered request, with `extra` headers for this one only.
    pub(super) async fn send(
        &self,
        request: &ModelRequest,
        body: Map<String, Value>,
        extra: HeaderMap,
        events: &EventSender,
    ) -> Result<ModelResponse> {
        let with_extra;
        let post = if extra.is_empty() {
            &self.post
        } else {
            let mut post = self.post.clone();
            post.headers.extend(extra);
            with_extra = post;
            &with_extra
        };
        let call = Call {
            post,
            body: body_bytes(body),
            deadline: request.deadline,
            retry: self.retry,
            secrets: &self.secrets,
            authorizer: None,
            framing: Framing::ServerSentEvents,
            events,
        };
        call.run(|| -> Box<dyn Decoder> {
            match self.api {
                Api::Responses => Box::new(responses::ResponsesDecoder::new(&self.model)),
                Api::ChatCompletions => Box::new(chat_completions::ChatDecoder::new(&self.model)),
            }
        })
        .await
    }
}

impl std::fmt::Debug for OpenAiCompatible {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("OpenAiCompatible")
            .field("model", &self.model)
            .field("api", &self.api)
            .field("endpoint", &self.post.endpoint)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Provider for OpenAiCompatible {
    fn unsupported_schema(&self, schema: &Value) -> Vec<String> {
        reduce(Dialect::OpenAiStrict, schema).dropped
    }

    async fn stream(&self, request: &ModelRequest, events: &EventSender) -> Result<ModelResponse> {
        let body = self.render(request)?;
        self.send(request, body, HeaderMap::new(), events).await
    }
}

/// Whether configured headers take the place of a key.
fn authenticates(headers: &HeaderMap) -> bool {
    headers.contains_key(AUTHORIZATION)
        || headers.contains_key("api-key")
        || headers.contains_key("x-api-key")
}

fn missing_key(connection: &str, service: &Service) -> Error {
    let variables = match service.variables {
        [] => String::new(),
        names => format!(", or set the environment variable {}", names.join(" or ")),
    };
    Error::new(
        ErrorKind::Credential,
        format!(
            "connection {connection:?} has no credential: set its option api_key{variables}. Only \
             a base_url on this machine works without one"
        ),
    )
}
