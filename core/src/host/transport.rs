//! Requests that an object of the host carries.

use async_trait::async_trait;
use bytes::Bytes;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc::UnboundedReceiver;

use super::channel::{HostCallKind, PendingAnswer};
use super::door::Door;
use crate::deadline::Deadline;
use crate::error::{Error, ErrorKind, Result, Retry};
use crate::http::{Answer, Body, Next, Post, Source, Transport, for_status};
use crate::protocol::failure::is_overflow;

/// What names of exceptions say of a condition that may pass, in the SDKs of vendors.
const PASSING: &[&str] = &[
    "Timeout",
    "ServiceUnavailable",
    "InternalServer",
    "Connection",
    "Networking",
    "Throttling",
    "TooManyRequests",
];

/// Has the host carry requests: it hands over the response's body as it comes, and raises for every
/// other status than a success.
#[derive(Debug)]
pub(super) struct HostTransport {
    door: Door,
    deadline: Option<Deadline>,
    /// The host uses a vendor's SDK, whose exceptions are judged by their names.
    of_sdk: bool,
}

impl HostTransport {
    pub(super) fn new(door: Door, deadline: Option<Deadline>, of_sdk: bool) -> Self {
        Self {
            door,
            deadline,
            of_sdk,
        }
    }
}

#[async_trait]
impl Transport for HostTransport {
    async fn send(&self, post: &Post, body: Bytes, _next: Next<'_>) -> Result<Answer> {
        let payload = json!({
            "path": post.endpoint.relative(),
            "url": post.endpoint.url().as_str(),
            "headers": plain(&post.headers),
            "body": String::from_utf8_lossy(&body),
            "deadline_at": self.deadline.map(|deadline| deadline.as_unix()),
        });
        let limit = post.limits.max_response_bytes;
        let (chunks, answer) = self
            .door
            .open_bytes(HostCallKind::Transport, payload, limit)?;
        let mut body = HostBody {
            first: None,
            chunks,
            answer: Some(answer),
            of_sdk: self.of_sdk,
        };
        // Failures that come before everything else are those of the request, not of a stream that broke.
        body.first = body.chunk().await?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, body.media_type(&post.headers, self.of_sdk));
        Ok(Answer {
            status: 200,
            headers,
            body: Body::Source(Box::new(body)),
        })
    }
}

fn plain(headers: &HeaderMap) -> Map<String, Value> {
    headers
        .iter()
        .filter_map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes());
            (!value.is_empty()).then(|| (name.to_string(), Value::String(value.into_owned())))
        })
        .collect()
}

struct HostBody {
    first: Option<Bytes>,
    chunks: UnboundedReceiver<Bytes>,
    answer: Option<PendingAnswer>,
    of_sdk: bool,
}

impl HostBody {
    /// A transport tells no headers. A document gives itself away; else it is what was asked for.
    fn media_type(&self, asked: &HeaderMap, of_sdk: bool) -> HeaderValue {
        let start = self.first.as_ref().and_then(|first| {
            first
                .iter()
                .find(|byte| !byte.is_ascii_whitespace())
                .copied()
        });
        if start == Some(b'{') {
            return HeaderValue::from_static("application/json");
        }
        let asked = asked.get(ACCEPT).filter(|_| !of_sdk).cloned();
        asked.unwrap_or(HeaderValue::from_static("text/event-stream"))
    }
}

#[async_trait]
impl Source for HostBody {
    async fn chunk(&mut self) -> Result<Option<Bytes>> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        if let Some(bytes) = self.chunks.recv().await {
            return Ok(Some(bytes));
        }
        match self.answer.take() {
            Some(answer) => answer
                .wait()
                .await
                .map(|_| None)
                .map_err(|error| judged(error, self.of_sdk)),
            None => Ok(None),
        }
    }
}

/// The host's failure, with what is known of whether another attempt can help.
fn judged(error: Error, of_sdk: bool) -> Error {
    if error.is(ErrorKind::Http) {
        let retry = error.status().map_or(Retry::Backoff, |status| {
            for_status(status, &HeaderMap::new())
        });
        return error.with_retry(retry);
    }
    if !of_sdk || error.kind() != ErrorKind::Host {
        return error;
    }
    if is_overflow(error.message()) {
        return Error::new(
            ErrorKind::ContextWindowOverflow,
            format!(
                "the request does not fit the model's context window: {}",
                error.message()
            ),
        );
    }
    if PASSING.iter().any(|name| error.class_name().contains(name)) {
        return error.with_retry(Retry::Backoff);
    }
    error
}
