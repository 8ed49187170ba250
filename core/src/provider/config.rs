//! Descriptions of provider connections.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::openai_compatible::Api;
use super::transport::{OwnTransport, Transport};
use super::{ModelResolver, Provider, ResolvedModel};
use crate::error::{Error, ErrorKind, Result};
use crate::message::kind_of;

/// How to reach a model service: an adapter and its options.
///
/// ```
/// use little_ghost::provider::{Api, ProviderConfig};
///
/// let local = ProviderConfig::openai_compatible("http://localhost:8080/v1")
///     .api(Api::ChatCompletions);
/// let hosted = ProviderConfig::openrouter("sk-or-...").option("app_name", "Support Console");
/// assert!(!format!("{hosted:?}").contains("sk-or"));
/// # let _ = local;
/// ```
#[derive(Clone, PartialEq)]
pub struct ProviderConfig {
    adapter: String,
    options: Map<String, Value>,
    transport: Option<OwnTransport>,
}

impl ProviderConfig {
    /// A connection with the named adapter and no options.
    pub fn new(adapter: impl Into<String>) -> Self {
        Self {
            adapter: adapter.into(),
            options: Map::new(),
            transport: None,
        }
    }

    /// OpenAI, by the Responses API unless [`api`](Self::api) says otherwise.
    pub fn openai(api_key: impl Into<String>) -> Self {
        Self::new("openai").api_key(api_key)
    }

    /// OpenRouter.
    pub fn openrouter(api_key: impl Into<String>) -> Self {
        Self::new("openrouter").api_key(api_key)
    }

    /// Google's Gemini API.
    pub fn gemini(api_key: impl Into<String>) -> Self {
        Self::new("gemini").api_key(api_key)
    }

    /// Gemini models in a project of Google Cloud, at the location `global` unless the option
    /// `location` says otherwise.
    pub fn vertex_ai(project: impl Into<String>) -> Self {
        Self::new("vertex_ai").option("project", project.into())
    }

    /// Anthropic, by the Messages API. A server on this machine that speaks it, named by
    /// [`base_url`](Self::base_url), needs no key.
    pub fn anthropic(api_key: impl Into<String>) -> Self {
        Self::new("anthropic").api_key(api_key)
    }

    /// Any service that speaks an OpenAI format, by the Responses API unless
    /// [`api`](Self::api) says otherwise. A server on this machine needs neither key nor TLS.
    pub fn openai_compatible(base_url: impl Into<String>) -> Self {
        Self::new("openai_compatible").option("base_url", base_url.into())
    }

    /// Amazon Bedrock in `region`, with the credentials of AWS's environment variables, files or
    /// metadata services unless the option `credentials` or `api_key` is set.
    pub fn bedrock(region: impl Into<String>) -> Self {
        Self::new("bedrock").option("region", region.into())
    }

    /// The credential.
    #[must_use]
    pub fn api_key(self, api_key: impl Into<String>) -> Self {
        self.option("api_key", api_key.into())
    }

    /// The URL that endpoint paths are appended to, with or without a final slash.
    #[must_use]
    pub fn base_url(self, base_url: impl Into<String>) -> Self {
        self.option("base_url", base_url.into())
    }

    /// The wire format.
    #[must_use]
    pub fn api(self, api: Api) -> Self {
        self.option("api", api.as_str())
    }

    /// Adds a header to every request; it replaces one of the adapter's own.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let headers = self
            .options
            .entry("headers")
            .or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(headers) = headers {
            headers.insert(name.into(), Value::String(value.into()));
        }
        self
    }

    /// Sets an option by name, such as `read_timeout` in seconds. Names are checked when the
    /// connection is first used, because the adapter knows them.
    #[must_use]
    pub fn option(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.options.insert(name.into(), value.into());
        self
    }

    /// Has requests carried by the application instead of the engine's own HTTP client.
    #[must_use]
    pub fn transport(mut self, transport: impl Transport + 'static) -> Self {
        self.transport = Some(OwnTransport(Arc::new(transport)));
        self
    }

    /// The model `model` at this service, to use without an agent or to give to one. Nothing is sent
    /// yet.
    ///
    /// ```no_run
    /// use little_ghost::provider::ProviderConfig;
    /// use little_ghost::{Agent, Message, Model, ModelRequest};
    /// use std::sync::Arc;
    ///
    /// # async fn example(key: &str) -> little_ghost::Result<()> {
    /// let claude = ProviderConfig::anthropic(key).connect("claude-sonnet-4-5")?;
    /// let response = claude.complete(ModelRequest::new([Message::user("Hello!")])).await?;
    /// println!("{}", response.message.text());
    /// let claude: Arc<dyn Model> = claude;
    /// let agent = Agent::builder("support").model(claude).build()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for an unknown or invalid option, [`ErrorKind::Credential`] when
    /// the service needs a credential and there is none, [`ErrorKind::AdapterLoad`] for an unknown
    /// adapter.
    pub fn connect(self, model: &str) -> Result<Arc<ResolvedModel>> {
        let name = self.adapter.clone();
        let resolver = ModelResolver::builder().provider(&name, self).build()?;
        resolver.resolve_name(&format!("{name}:{model}"))
    }

    /// Reads `{"adapter": "...", ...options}`; options that are null count as absent.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] when it is no object or has no adapter.
    pub fn from_value(connection: &str, value: &Value) -> Result<Self> {
        let Value::Object(map) = value else {
            return Err(Error::new(
                ErrorKind::Configuration,
                format!(
                    "connection {connection:?} must be a mapping with an adapter and its \
                     options, not {}",
                    kind_of(value)
                ),
            ));
        };
        let adapter = match map.get("adapter") {
            Some(Value::String(adapter)) if !adapter.trim().is_empty() => adapter.trim().to_owned(),
            _ => {
                return Err(Error::new(
                    ErrorKind::Configuration,
                    format!(
                        "connection {connection:?} needs an adapter: one of {}",
                        super::adapter::names()
                    ),
                ));
            }
        };
        let options = map
            .iter()
            .filter(|(key, value)| *key != "adapter" && !value.is_null())
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        Ok(Self {
            adapter,
            options,
            transport: None,
        })
    }

    /// Name of the adapter.
    #[must_use]
    pub fn adapter(&self) -> &str {
        &self.adapter
    }

    /// `provider`, with the connection's own transport if it has one.
    pub(super) fn carry(&self, provider: Arc<dyn Provider>) -> Arc<dyn Provider> {
        match &self.transport {
            Some(transport) => transport.carry(provider),
            None => provider,
        }
    }

    /// The options, secrets included.
    pub(super) fn options(&self) -> &Map<String, Value> {
        &self.options
    }
}

impl fmt::Debug for ProviderConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Any option may hold a secret: a key, a header, a URL with a password. Names are enough.
        let names: Vec<&str> = self.options.keys().map(String::as_str).collect();
        formatter
            .debug_struct("ProviderConfig")
            .field("adapter", &self.adapter)
            .field("options", &names)
            .finish()
    }
}
