//! Requests that the application carries.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures_core::Stream;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

use super::Provider;
use super::substitute::{Substitute, scope};
use crate::error::Result;
use crate::http::{Answer, Body, Next, Post, Source, Transport as Carrier};
use crate::model::{ModelCapabilities, ModelRequest, ModelResponse};
use crate::run::EventSender;

/// A request that a [`Transport`] sends by POST.
#[non_exhaustive]
#[derive(Clone)]
pub struct TransportRequest {
    /// Where it goes.
    pub url: String,
    /// The part of the URL below the connection's `base_url`, with the query.
    pub path: String,
    /// Names in lower case; credentials are among them.
    pub headers: Vec<(String, String)>,
    /// JSON.
    pub body: Vec<u8>,
}

impl fmt::Debug for TransportRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TransportRequest")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// The body of a response, as it arrives.
pub type TransportBody = Pin<Box<dyn Stream<Item = Result<Vec<u8>>> + Send>>;

/// What a [`Transport`] got.
pub struct TransportResponse {
    /// The HTTP status. What is no success becomes an error of the request, and may be tried again.
    pub status: u16,
    /// Headers; `content-type` and `retry-after` matter. Without a type the body is what was asked for.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: TransportBody,
}

impl fmt::Debug for TransportResponse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "TransportResponse({})", self.status)
    }
}

/// Carries the requests of a connection instead of the engine's own HTTP client; see
/// [`ProviderConfig::transport`](super::ProviderConfig::transport).
///
/// ```
/// use little_ghost::provider::{Transport, TransportRequest, TransportResponse};
/// use little_ghost::{Result, async_trait};
///
/// struct Canned;
///
/// #[async_trait]
/// impl Transport for Canned {
///     async fn send(&self, _request: TransportRequest) -> Result<TransportResponse> {
///         let event = r#"data: {"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]}"#;
///         let body = format!("{event}\n\ndata: [DONE]\n\n").into_bytes();
///         Ok(TransportResponse {
///             status: 200,
///             headers: vec![("content-type".into(), "text/event-stream".into())],
///             body: Box::pin(futures_util::stream::iter([Ok(body)])),
///         })
///     }
/// }
/// ```
///
/// What is in flight is dropped when nobody waits for it any more.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Sends a request.
    ///
    /// # Errors
    /// Whatever kept it from a response; with [`Retry::Backoff`](crate::Retry::Backoff) it is tried
    /// again.
    async fn send(&self, request: TransportRequest) -> Result<TransportResponse>;
}

/// The transport of a connection; equal to itself only.
#[derive(Clone)]
pub(super) struct OwnTransport(pub(super) Arc<dyn Transport>);

impl PartialEq for OwnTransport {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for OwnTransport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("OwnTransport")
    }
}

impl OwnTransport {
    /// `provider`, whose requests go through this.
    pub(super) fn carry(&self, provider: Arc<dyn Provider>) -> Arc<dyn Provider> {
        Arc::new(Carried {
            inner: provider,
            transport: self.clone(),
        })
    }
}

#[async_trait]
impl Carrier for OwnTransport {
    async fn send(&self, post: &Post, body: Bytes, _next: Next<'_>) -> Result<Answer> {
        let headers = post.headers.iter().map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            (name.to_string(), value)
        });
        let request = TransportRequest {
            url: post.endpoint.url().to_string(),
            path: post.endpoint.relative(),
            headers: headers.collect(),
            body: body.to_vec(),
        };
        let response = self.0.send(request).await?;
        let mut headers = HeaderMap::new();
        for (name, value) in &response.headers {
            // What is no header tells nothing.
            if let (Ok(name), Ok(value)) = (
                HeaderName::from_bytes(name.as_bytes()),
                HeaderValue::from_str(value),
            ) {
                headers.append(name, value);
            }
        }
        if let Some(asked) = post.headers.get(reqwest::header::ACCEPT) {
            headers
                .entry(reqwest::header::CONTENT_TYPE)
                .or_insert_with(|| asked.clone());
        }
        Ok(Answer {
            status: response.status,
            headers,
            body: Body::Source(Box::new(OwnBody(response.body))),
        })
    }
}

struct OwnBody(TransportBody);

#[async_trait]
impl Source for OwnBody {
    async fn chunk(&mut self) -> Result<Option<Bytes>> {
        let next = std::future::poll_fn(|context| self.0.as_mut().poll_next(context)).await;
        next.transpose().map(|chunk| chunk.map(Bytes::from))
    }
}

impl Substitute for OwnTransport {
    fn transport(&self) -> Option<Arc<dyn Carrier>> {
        Some(Arc::new(self.clone()))
    }
}

/// A provider whose requests the application carries.
struct Carried {
    inner: Arc<dyn Provider>,
    transport: OwnTransport,
}

#[async_trait]
impl Provider for Carried {
    fn capabilities(&self, metadata: &Map<String, Value>) -> ModelCapabilities {
        self.inner.capabilities(metadata)
    }

    fn prepare_request(
        &self,
        request: ModelRequest,
        capabilities: &ModelCapabilities,
    ) -> ModelRequest {
        self.inner.prepare_request(request, capabilities)
    }

    fn unsupported_schema(&self, schema: &Value) -> Vec<String> {
        self.inner.unsupported_schema(schema)
    }

    async fn stream(&self, request: &ModelRequest, events: &EventSender) -> Result<ModelResponse> {
        let substitute = Arc::new(self.transport.clone());
        scope(substitute, self.inner.stream(request, events)).await
    }
}
