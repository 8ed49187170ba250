//! What carries requests: the network, unless something takes its place.
//!
//! A run may bring transports of its own. They form a chain in front of the network, and
//! apply to every request that is sent while the run's work is polled. Without any, a request costs one look
//! at a thread-local.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::future::Either;
use reqwest::header::HeaderMap;
use tokio::task_local;

use super::post::{Post, network};
use super::{Endpoint, failure};
use crate::error::Result;

/// Takes a request, and answers it or hands it on.
#[async_trait]
pub(crate) trait Transport: fmt::Debug + Send + Sync {
    /// Answers `post` with `body`, on its own or with what `next` answers.
    ///
    /// # Errors
    /// As [`Post::send`] for a request that got no answer; a status is not an error here.
    async fn send(&self, post: &Post, body: Bytes, next: Next<'_>) -> Result<Answer>;
}

/// The transports of one runtime, the first one first.
pub(crate) type Transports = Arc<[Arc<dyn Transport>]>;

/// The rest of a chain: more transports, and the network at its end.
pub(crate) struct Next<'a> {
    rest: &'a [Arc<dyn Transport>],
}

impl Next<'_> {
    /// Sends the request on.
    pub(crate) async fn send(self, post: &Post, body: Bytes) -> Result<Answer> {
        match self.rest.split_first() {
            Some((first, rest)) => first.send(post, body, Next { rest }).await,
            None => network(post, body).await,
        }
    }
}

/// The head of an answer, and where its body comes from.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Body,
}

/// Where the bytes of an answer come from.
pub(crate) enum Body {
    /// A socket.
    Network(NetworkBody),
    /// Anything else.
    Source(Box<dyn Source>),
}

/// Bytes that do not come from a socket.
#[async_trait]
pub(crate) trait Source: Send {
    /// The next bytes; `None` at the end.
    async fn chunk(&mut self) -> Result<Option<Bytes>>;
}

/// A body that arrives over a connection.
pub(crate) struct NetworkBody {
    response: reqwest::Response,
    endpoint: Endpoint,
    open_timeout: std::time::Duration,
}

impl Answer {
    pub(super) fn from_network(mut response: reqwest::Response, post: &Post) -> Self {
        Self {
            status: response.status().as_u16(),
            headers: std::mem::take(response.headers_mut()),
            body: Body::Network(NetworkBody {
                response,
                endpoint: post.endpoint.clone(),
                open_timeout: post.limits.open_timeout,
            }),
        }
    }
}

impl Body {
    /// The next bytes; `None` at the end.
    ///
    /// # Errors
    /// [`ErrorKind::Http`](crate::ErrorKind::Http) for a broken connection.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>> {
        match self {
            Body::Network(body) => body
                .response
                .chunk()
                .await
                .map_err(|problem| failure::network(problem, &body.endpoint, body.open_timeout)),
            Body::Source(source) => source.chunk().await,
        }
    }
}

task_local! {
    static CURRENT: Transports;
}

/// Has the requests of `work` go through `transports`.
pub(crate) fn scope<F: Future>(
    transports: &Transports,
    work: F,
) -> impl Future<Output = F::Output> + use<F> {
    if transports.is_empty() {
        Either::Left(work)
    } else {
        Either::Right(CURRENT.scope(Arc::clone(transports), work))
    }
}

/// Has the requests of `work` go to `transport` where they would go to the network, behind the
/// transports of the current work.
pub(crate) fn within<F: Future>(
    transport: &Arc<dyn Transport>,
    work: F,
) -> impl Future<Output = F::Output> + use<F> {
    let mut transports = CURRENT
        .try_with(|current| current.to_vec())
        .unwrap_or_default();
    transports.push(Arc::clone(transport));
    CURRENT.scope(transports.into(), work)
}

/// Sends `post` through the transports of the current work.
pub(super) async fn carry(post: &Post, body: Bytes) -> Result<Answer> {
    match CURRENT.try_with(Arc::clone) {
        Ok(transports) => Next { rest: &transports }.send(post, body).await,
        Err(_) => network(post, body).await,
    }
}
