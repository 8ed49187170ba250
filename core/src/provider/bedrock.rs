//! Amazon Bedrock, by its Converse API.

use std::sync::Arc;

use async_trait::async_trait;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::{Map, Value};

use super::Provider;
use super::adapter::AdapterRequest;
use super::attempt::Call;
use super::aws_signer::AwsSigner;
use super::credentials::Environment;
use super::options::Options;
use super::secret::Secret;
use super::substitute::SubstituteCredentials;
use crate::credential::{AwsCredentialChain, AwsCredentialSource, AwsCredentials, dns_suffix};
use crate::error::{Error, ErrorKind, Result};
use crate::http::{Endpoint, Framing, Limits, Post, RetryPolicy};
use crate::model::{ModelCapabilities, ModelRequest, ModelResponse};
use crate::protocol::body_bytes;
use crate::protocol::converse;
use crate::protocol::schema_dialect::{Dialect, reduce};
use crate::run::EventSender;

const OPTIONS: &[&str] = &[
    "region",
    "profile",
    "credentials",
    "credential_resolver",
    "client",
    "api_key",
    "endpoint",
    "open_timeout",
    "read_timeout",
    "allow_insecure_http",
    "max_response_bytes",
    "max_frame_bytes",
    "max_retries",
    "max_retry_delay",
];

/// The service's name in signatures.
const SERVICE: &str = "bedrock";
/// What requests are signed for when it does not matter.
const DEFAULT_REGION: &str = "us-east-1";
/// The largest answer unless the connection says otherwise.
const MAX_RESPONSE: u64 = 256 * 1_024 * 1_024;
/// The largest event unless the connection says otherwise.
const MAX_FRAME: u64 = 16 * 1_024 * 1_024;

/// A connection to Amazon Bedrock in one region, bound to one model.
pub struct Bedrock {
    model: String,
    post: Post,
    retry: RetryPolicy,
    framing: Framing,
    secrets: Vec<Secret>,
    /// Absent when a key of the service itself stands in the headers.
    signer: Option<AwsSigner>,
}

impl Bedrock {
    /// Builds the connection from its options.
    ///
    /// `region` defaults to `AWS_REGION`, `AWS_DEFAULT_REGION` or the profile's. Requests are signed with
    /// `credentials` (`access_key_id`, `secret_access_key` and perhaps `session_token`), or else with
    /// what an [`AwsCredentialChain`] finds, from `profile` if that is given. `api_key` is sent as
    /// it is instead.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for an unknown or invalid option, or no region.
    pub fn new(request: &AdapterRequest<'_>) -> Result<Self> {
        Self::with_source(request, None)
    }

    /// Builds the connection, and takes the keys for signatures from `source`.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_credentials(
        request: &AdapterRequest<'_>,
        source: Arc<dyn AwsCredentialSource>,
    ) -> Result<Self> {
        Self::with_source(request, Some(source))
    }

    fn with_source(
        request: &AdapterRequest<'_>,
        given: Option<Arc<dyn AwsCredentialSource>>,
    ) -> Result<Self> {
        let connection = request.connection;
        let options = Options::new(connection, "bedrock", request.options, OPTIONS)?;
        let key = options.secret("api_key")?;
        let by_client = options.flag("client")?;
        let configured = options.text("endpoint")?;
        let is_loopback = configured.is_some_and(is_loopback);
        let chain = chain(options.text("profile")?, is_loopback);
        let region = match options.text("region")? {
            Some(region) => Some(region.trim().to_owned()),
            None => chain.region(),
        };
        let region = match region {
            Some(region) => region,
            // A client knows where it sends requests, and a server on this machine does not care.
            None if by_client || is_loopback => DEFAULT_REGION.to_owned(),
            None => return Err(no_region(connection)),
        };
        check_region(connection, &region)?;
        let endpoint = Endpoint::named(
            "endpoint",
            connection,
            configured.unwrap_or(&address("bedrock-runtime", &region)),
            &converse::path(request.model),
            options.flag("allow_insecure_http")?,
        )?;
        let resolver = options.flag("credential_resolver")?;
        let mut is_found = false;
        let (source, proof): (Arc<dyn AwsCredentialSource>, _) =
            match (given, credentials(connection, request.options)?) {
                (Some(source), _) => (source, "credentials"),
                (None, Some(keys)) => (Arc::new(keys), "credentials"),
                (None, None) if resolver => {
                    (Arc::new(SubstituteCredentials), "credential_resolver")
                }
                (None, None) => {
                    is_found = true;
                    (chain, "the AWS credentials")
                }
            };
        let proof = if key.is_some() { "api_key" } else { proof };
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(
            ACCEPT,
            HeaderValue::from_static("application/vnd.amazon.eventstream"),
        );
        let signer = match &key {
            _ if by_client => None,
            Some(key) => {
                let bearer = format!("Bearer {}", key.expose());
                headers.insert(AUTHORIZATION, options.header_value("api_key", &bearer)?);
                None
            }
            None => {
                // What the application gives has to work here, too.
                let optional = endpoint.is_loopback() && is_found;
                Some(AwsSigner::new(source, region, SERVICE, optional))
            }
        };
        let limits = Limits {
            max_response_bytes: options.count("max_response_bytes")?.unwrap_or(MAX_RESPONSE),
            ..options.limits()?
        };
        let max_frame = options.count("max_frame_bytes")?.unwrap_or(MAX_FRAME);
        Ok(Self {
            model: request.model.to_owned(),
            post: Post {
                endpoint: endpoint.with_proof(proof),
                headers,
                limits,
            },
            retry: options.retry()?,
            framing: if by_client {
                Framing::ServerSentEvents
            } else {
                Framing::AwsEventStream {
                    max_frame_bytes: usize::try_from(max_frame).unwrap_or(usize::MAX),
                }
            },
            secrets: key.into_iter().collect(),
            signer,
        })
    }

    /// The model's identifier: its name, an inference profile's, or an ARN.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }
}

impl std::fmt::Debug for Bedrock {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Bedrock")
            .field("model", &self.model)
            .field("endpoint", &self.post.endpoint)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Provider for Bedrock {
    fn capabilities(&self, metadata: &Map<String, Value>) -> ModelCapabilities {
        ModelCapabilities::from_details(metadata)
    }

    fn prepare_request(
        &self,
        mut request: ModelRequest,
        capabilities: &ModelCapabilities,
    ) -> ModelRequest {
        // Models that cannot keep to a schema refuse a request that demands it.
        if !capabilities.native_structured_output
            && request.tools.iter().any(|tool| tool.is_strict())
        {
            let tools = request.tools.iter().cloned();
            request.tools = tools.map(|tool| tool.strict(false)).collect();
        }
        request
    }

    fn unsupported_schema(&self, schema: &Value) -> Vec<String> {
        reduce(Dialect::Bedrock, schema).dropped
    }

    async fn stream(&self, request: &ModelRequest, events: &EventSender) -> Result<ModelResponse> {
        let body = converse::render_request(&self.model, request)?;
        let call = Call {
            post: &self.post,
            body: body_bytes(body),
            deadline: request.deadline,
            retry: self.retry,
            secrets: &self.secrets,
            authorizer: self.signer.as_ref().map(|signer| signer as _),
            framing: self.framing,
            events,
        };
        call.run(|| Box::new(converse::ConverseDecoder::new(&self.model)))
            .await
    }
}

/// The keys of the option `credentials`.
pub(crate) fn credentials(
    connection: &str,
    options: &Map<String, Value>,
) -> Result<Option<AwsCredentials>> {
    let invalid = |problem: &str| {
        Error::new(
            ErrorKind::Configuration,
            format!(
                "option credentials of connection {connection:?} {problem}; it takes access_key_id, \
                 secret_access_key and session_token"
            ),
        )
    };
    let map = match options.get("credentials") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(map)) => map,
        Some(_) => return Err(invalid("must be a mapping")),
    };
    let text = |name: &str| match map.get(name) {
        None | Some(Value::Null) => Ok(""),
        Some(Value::String(text)) => Ok(text.trim()),
        Some(_) => Err(invalid(&format!("needs a string for {name}"))),
    };
    let known = ["access_key_id", "secret_access_key", "session_token"];
    if map.keys().any(|key| !known.contains(&key.as_str())) {
        return Err(invalid("has an unknown key"));
    }
    let (id, secret) = (text("access_key_id")?, text("secret_access_key")?);
    if id.is_empty() || secret.is_empty() {
        return Err(invalid("needs both access_key_id and secret_access_key"));
    }
    let keys = AwsCredentials::new(id, secret);
    Ok(Some(keys.session_token(text("session_token")?)))
}

/// Where keys and regions come from that the connection does not have.
pub(crate) fn chain(profile: Option<&str>, is_loopback: bool) -> Arc<AwsCredentialChain> {
    if profile.is_none() && !is_loopback {
        return AwsCredentialChain::process();
    }
    let environment = if is_loopback {
        // A server on this machine is no reason to go looking for metadata services.
        Environment::new(|name| match name {
            "AWS_EC2_METADATA_DISABLED" => Some("true".to_owned()),
            name => std::env::var(name).ok(),
        })
    } else {
        Environment::process()
    };
    let chain = AwsCredentialChain::new(environment);
    Arc::new(match profile {
        Some(profile) => chain.profile(profile),
        None => chain,
    })
}

fn no_region(connection: &str) -> Error {
    Error::new(
        ErrorKind::Configuration,
        format!(
            "connection {connection:?} has no AWS region: set its option region, such as \
             \"us-east-1\", the environment variable AWS_REGION, or region in the profile of the AWS \
             config file"
        ),
    )
}

/// A region becomes part of an address, so it must not be able to change which one.
pub(crate) fn check_region(connection: &str, region: &str) -> Result<()> {
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if region.bytes().all(legal) && !region.is_empty() {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Configuration,
        format!(
            "the AWS region of connection {connection:?} must be a name such as \"us-east-1\", of \
             lower-case letters, digits and hyphens"
        ),
    ))
}

/// The address of a service of AWS, such as `bedrock-runtime`, in a region.
pub(crate) fn address(service: &str, region: &str) -> String {
    let domain = dns_suffix(region);
    format!("https://{service}.{region}.{domain}")
}

fn is_loopback(endpoint: &str) -> bool {
    Endpoint::new("", endpoint, "", true).is_ok_and(|endpoint| endpoint.is_loopback())
}
