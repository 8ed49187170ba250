//! Who answers and where: connections, credentials, quirks.
//!
//! A [`ProviderConfig`] describes a connection, a [`ModelResolver`] turns the name of a role or
//! a target such as `"openrouter:openai/gpt-5.6-luna"` into an executable
//! [`Model`](crate::Model).

mod adapter;
mod anthropic;
mod attempt;
mod authorizer;
mod aws_signer;
mod bedrock;
mod config;
mod credentials;
mod gemini;
mod modality;
mod openai;
mod openai_compatible;
mod openrouter;
mod options;
mod policy;
mod profile;
mod resolved;
mod resolver;
mod secret;
mod substitute;
mod target;
#[cfg(test)]
mod tests;
mod transport;
mod vertex_ai;

use async_trait::async_trait;
use serde_json::{Map, Value};

pub(crate) use attempt::redact;
pub(crate) use bedrock::{
    address as aws_address, chain as aws_chain, check_region as check_aws_region,
    credentials as aws_credentials,
};
pub(crate) use modality::check as check_modalities;
pub(crate) use substitute::{Substitute, scope as substituted};

pub use adapter::{Adapter, AdapterRequest};
pub use anthropic::Anthropic;
pub use bedrock::Bedrock;
pub use config::ProviderConfig;
pub use credentials::Environment;
pub use gemini::Gemini;
pub use openai::OpenAi;
pub use openai_compatible::{Api, OpenAiCompatible};
pub use openrouter::OpenRouter;
pub use profile::Profile;
pub use resolved::ResolvedModel;
pub use resolver::{ModelDescription, ModelResolver, ModelResolverBuilder};
pub use secret::Secret;
pub use transport::{Transport, TransportBody, TransportRequest, TransportResponse};
pub use vertex_ai::VertexAi;

use crate::error::Result;
use crate::model::{ModelCapabilities, ModelRequest, ModelResponse};
use crate::run::EventSender;

/// A connection to a model service, bound to one model id.
#[async_trait]
pub trait Provider: Send + Sync {
    /// What the model behind this connection can do, given catalog metadata.
    fn capabilities(&self, _metadata: &Map<String, Value>) -> ModelCapabilities {
        ModelCapabilities::permissive()
    }

    /// Applies constraints of the provider before a request is sent.
    fn prepare_request(
        &self,
        request: ModelRequest,
        _capabilities: &ModelCapabilities,
    ) -> ModelRequest {
        request
    }

    /// Paths of what the service cannot be told of a result schema; see
    /// [`Model::unsupported_schema`](crate::Model::unsupported_schema).
    fn unsupported_schema(&self, _schema: &Value) -> Vec<String> {
        Vec::new()
    }

    /// Streams one request; see [`Model::stream`](crate::Model::stream).
    ///
    /// # Errors
    /// As [`Model::stream`](crate::Model::stream).
    async fn stream(&self, request: &ModelRequest, events: &EventSender) -> Result<ModelResponse>;
}
