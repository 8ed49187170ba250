//! Adapters: what turns the options of a connection into a provider.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::anthropic::Anthropic;
use super::bedrock::Bedrock;
use super::gemini::Gemini;
use super::openai::OpenAi;
use super::openai_compatible::OpenAiCompatible;
use super::openrouter::OpenRouter;
use super::vertex_ai::VertexAi;
use super::{Provider, policy};
use crate::error::{ErrorKind, Result};
use crate::model::ModelCapabilities;

/// What an adapter builds a provider from.
#[derive(Clone, Copy)]
pub struct AdapterRequest<'a> {
    /// The application's name for the connection.
    pub connection: &'a str,
    /// The model's identifier at the service.
    pub model: &'a str,
    /// Options of the connection, with the profile's request policy over them. Secrets included.
    pub options: &'a Map<String, Value>,
}

type Capabilities = fn(&Map<String, Value>) -> ModelCapabilities;
type Build = dyn Fn(&AdapterRequest<'_>) -> Result<Arc<dyn Provider>> + Send + Sync;

/// A way to build providers.
#[derive(Clone)]
pub struct Adapter {
    build: Arc<Build>,
    request_options: &'static [&'static str],
    /// What its models can do, given their details; `None` when only a provider knows.
    capabilities: Option<Capabilities>,
}

impl Adapter {
    /// An adapter of the application. It receives the connection's options as they are, and
    /// every request policy key.
    pub fn new(
        build: impl Fn(&AdapterRequest<'_>) -> Result<Arc<dyn Provider>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            build: Arc::new(build),
            request_options: policy::KEYS,
            capabilities: None,
        }
    }

    pub(super) fn build(&self, request: &AdapterRequest<'_>) -> Result<Arc<dyn Provider>> {
        (self.build)(request)
    }

    /// Finds mistakes in the options of a connection before it is used. A missing credential is none:
    /// it may come later.
    pub(super) fn check(&self, connection: &str, options: &Map<String, Value>) -> Result<()> {
        if self.capabilities.is_none() {
            // The application's own code must not run before it is needed.
            return Ok(());
        }
        let built = self.build(&AdapterRequest {
            connection,
            model: "model",
            options,
        });
        match built {
            Err(error) if error.kind() != ErrorKind::Credential => Err(error),
            _ => Ok(()),
        }
    }

    /// What a model with these details can do, as far as that is known without a provider.
    pub(super) fn capabilities(&self, details: &Map<String, Value>) -> ModelCapabilities {
        self.capabilities
            .map_or_else(ModelCapabilities::unknown, |capabilities| {
                capabilities(details)
            })
    }

    /// Request policy keys that the adapter understands; others are dropped.
    pub(super) fn request_options(&self) -> &'static [&'static str] {
        self.request_options
    }

    /// The built-in adapter called `name`.
    pub(super) fn built_in(name: &str) -> Option<Self> {
        match name {
            "openai_compatible" => {
                Some(Self::shared(OpenAiCompatible::new, policy::COMMON, |_| {
                    ModelCapabilities::permissive()
                }))
            }
            "openai" => Some(Self::shared(OpenAi::new, policy::COMMON, |_| {
                ModelCapabilities::permissive()
            })),
            "openrouter" => Some(Self::shared(
                OpenRouter::new,
                policy::KEYS,
                ModelCapabilities::from_details,
            )),
            "anthropic" => Some(Self::shared(
                Anthropic::new,
                policy::COMMON,
                Anthropic::capabilities_of,
            )),
            "gemini" => Some(Self::shared(Gemini::new, policy::COMMON, |_| {
                ModelCapabilities::permissive()
            })),
            "vertex_ai" => Some(Self::shared(VertexAi::new, policy::COMMON, |_| {
                ModelCapabilities::permissive()
            })),
            "bedrock" => Some(Self::shared(
                Bedrock::new,
                policy::COMMON,
                ModelCapabilities::from_details,
            )),
            _ => None,
        }
    }

    fn shared<P: Provider + 'static>(
        build: fn(&AdapterRequest<'_>) -> Result<P>,
        request_options: &'static [&'static str],
        capabilities: Capabilities,
    ) -> Self {
        Self {
            build: Arc::new(move |request| Ok(Arc::new(build(request)?))),
            request_options,
            capabilities: Some(capabilities),
        }
    }
}

/// Names of the built-in adapters, for messages.
pub(super) fn names() -> &'static str {
    "openai, openrouter, anthropic, gemini, vertex_ai, bedrock, openai_compatible"
}
