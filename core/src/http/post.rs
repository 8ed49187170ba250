//! Sending one request.

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use reqwest::header::HeaderMap;
use tokio::time::timeout;

use super::client;
use super::endpoint::Endpoint;
use super::failure;
use super::response::ResponseStream;
use super::transport::{Answer, Body, carry};
use crate::deadline::Deadline;
use crate::error::{Error, Result};

/// Bytes of an error answer that are read.
const MAX_ERROR_BODY: usize = 64 * 1_024;

/// How long an error answer may take to arrive once its status is known.
const ERROR_BODY_PATIENCE: Duration = Duration::from_secs(5);

/// Bounds on one request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    /// The longest time to connect, with DNS and TLS.
    pub(crate) open_timeout: Duration,
    /// The longest silence, when set by the application.
    ///
    /// Otherwise it is [`Limits::SILENCE`] once the answer has begun, and
    /// [`Limits::REASONING_SILENCE`] before.
    pub(crate) read_timeout: Option<Duration>,
    /// The largest answer.
    pub(crate) max_response_bytes: u64,
}

impl Limits {
    /// Silence that is healthy in the middle of an answer.
    pub(crate) const SILENCE: Duration = Duration::from_secs(120);
    /// Silence that is healthy before an answer: some reasoning models think without a sign.
    pub(crate) const REASONING_SILENCE: Duration = Duration::from_secs(600);

    /// The longest silence now, given whether content has begun to arrive.
    pub(crate) fn silence(&self, begun: bool) -> Duration {
        self.read_timeout.unwrap_or(if begun {
            Self::SILENCE
        } else {
            Self::REASONING_SILENCE
        })
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            open_timeout: Duration::from_secs(10),
            read_timeout: None,
            max_response_bytes: 50 * 1_024 * 1_024,
        }
    }
}

/// A POST request that may be sent several times.
#[derive(Clone, Debug)]
pub(crate) struct Post {
    /// Where to.
    pub(crate) endpoint: Endpoint,
    /// Headers; secret ones are marked sensitive.
    pub(crate) headers: HeaderMap,
    /// Bounds.
    pub(crate) limits: Limits,
}

impl Post {
    /// Sends the request and returns the stream of a successful answer.
    ///
    /// # Errors
    /// [`ErrorKind::Http`](crate::ErrorKind::Http) for a failed connection or any status but
    /// 2xx; [`ErrorKind::DeadlineExceeded`](crate::ErrorKind::DeadlineExceeded).
    pub(crate) async fn send(
        &self,
        body: Bytes,
        deadline: Option<Deadline>,
    ) -> Result<ResponseStream> {
        let limits = self.limits;
        // The connect timeout runs inside; silence counts from the sent request on, so the two
        // add up for a slow connection.
        let limit = limits.silence(false).saturating_add(limits.open_timeout);
        let answer = bounded(carry(self, body), limit, deadline)
            .await?
            .ok_or_else(|| failure::idle(&self.endpoint, limits.silence(false)))??;
        if (200..300).contains(&answer.status) {
            let endpoint = self.endpoint.clone();
            return Ok(ResponseStream::new(answer, endpoint, limits, deadline));
        }
        // Apart, so that requests that are answered have no room for it.
        Box::pin(self.refused(answer, deadline)).await
    }

    async fn refused<T>(&self, answer: Answer, deadline: Option<Deadline>) -> Result<T> {
        let body = error_body(answer.body, deadline).await?;
        Err(failure::status(
            &self.endpoint,
            answer.status,
            &answer.headers,
            &body,
        ))
    }
}

/// Sends a request over the network.
pub(super) async fn network(post: &Post, body: Bytes) -> Result<Answer> {
    let open_timeout = post.limits.open_timeout;
    let client = client::client(open_timeout, post.endpoint.is_direct())?;
    let response = client
        .post(post.endpoint.url().clone())
        .headers(post.headers.clone())
        .body(body)
        .send()
        .await
        .map_err(|problem| failure::network(problem, &post.endpoint, open_timeout))?;
    Ok(Answer::from_network(response, post))
}

/// What can be had of an error's explanation; the status matters more than its whole text.
pub(super) async fn error_body(mut source: Body, deadline: Option<Deadline>) -> Result<String> {
    let mut body = Vec::new();
    let read = async {
        while let Ok(Some(chunk)) = source.chunk().await {
            body.extend_from_slice(&chunk);
            if body.len() >= MAX_ERROR_BODY {
                break;
            }
        }
    };
    bounded(read, ERROR_BODY_PATIENCE, deadline).await?;
    body.truncate(MAX_ERROR_BODY);
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// Runs `work` for at most `limit`; `None` when that was too short, an error past the deadline.
pub(super) fn bounded<T>(
    work: impl Future<Output = T>,
    limit: Duration,
    deadline: Option<Deadline>,
) -> impl Future<Output = Result<Option<T>>> {
    let left = deadline.map(|deadline| deadline.remaining());
    let shortest = left.map_or(limit, |left| left.min(limit));
    // No async function: that would have room for `work` twice.
    timeout(shortest, work).map(move |done| match done {
        Ok(value) => Ok(Some(value)),
        Err(_) if left.is_some_and(|left| left <= limit) => Err(Error::deadline_exceeded()),
        Err(_) => Ok(None),
    })
}
