//! The bytes of one answer, as they arrive.

use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use tokio::task::yield_now;
use tokio::time::timeout;

use super::endpoint::Endpoint;
use super::failure;
use super::post::{Limits, bounded};
use super::transport::{Answer, Body};
use crate::deadline::Deadline;
use crate::error::{Error, Result};

/// How long a caller waits for a finished answer's stream to close: it mostly has already.
const RELEASE_PATIENCE: Duration = Duration::from_millis(10);

/// How long a finished answer's connection may take to close its stream before it is given up.
const DRAIN_PATIENCE: Duration = Duration::from_secs(1);

/// How often a body is read before others get their turn.
const READS_IN_A_ROW: u32 = 64;

/// How long to wait for what may follow a complete answer.
const AFTERTHOUGHT_PATIENCE: Duration = Duration::from_secs(5);

/// The body of a successful answer. Dropping it closes the stream upstream.
pub(crate) struct ResponseStream {
    /// Of the headers only this is kept: they are slices of the buffer that the connection goes on to read into, which
    /// it could not use again.
    media_type: Box<str>,
    body: Body,
    endpoint: Endpoint,
    limits: Limits,
    deadline: Option<Deadline>,
    received: u64,
    reads: u32,
    begun: bool,
    complete: bool,
    ended: bool,
}

impl ResponseStream {
    pub(super) fn new(
        answer: Answer,
        endpoint: Endpoint,
        limits: Limits,
        deadline: Option<Deadline>,
    ) -> Self {
        Self {
            media_type: media_type(&answer.headers).into(),
            body: answer.body,
            endpoint,
            limits,
            deadline,
            received: 0,
            reads: 0,
            begun: false,
            complete: false,
            ended: false,
        }
    }

    /// Whether the answer is one JSON document instead of an event stream.
    pub(crate) fn is_json(&self) -> bool {
        &*self.media_type == "application/json"
    }

    /// Whether the answer says that it is an event stream.
    pub(crate) fn is_event_stream(&self) -> bool {
        &*self.media_type == "text/event-stream"
    }

    /// Whether the answer says that it is an event stream of AWS.
    pub(crate) fn is_aws_event_stream(&self) -> bool {
        &*self.media_type == "application/vnd.amazon.eventstream"
    }

    /// The error for an answer that is something else than a model's.
    pub(crate) fn wrong_type(&self) -> Error {
        failure::wrong_type(&self.endpoint, &self.media_type)
    }

    /// From now on the shorter silence applies: the model has begun to answer.
    pub(crate) fn content_begun(&mut self) {
        self.begun = true;
    }

    /// From now on only afterthoughts are expected, such as token counts.
    pub(crate) fn content_complete(&mut self) {
        self.complete = true;
    }

    /// The next bytes; `None` at the end.
    ///
    /// # Errors
    /// [`ErrorKind::Http`](crate::ErrorKind::Http) for a broken connection or too long a silence,
    /// [`ErrorKind::Protocol`](crate::ErrorKind::Protocol) for too large an answer,
    /// [`ErrorKind::DeadlineExceeded`](crate::ErrorKind::DeadlineExceeded).
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>> {
        if self.deadline.is_some_and(|deadline| deadline.is_past()) {
            return Err(Error::deadline_exceeded());
        }
        self.reads = self.reads.wrapping_add(1);
        if self.reads.is_multiple_of(READS_IN_A_ROW) {
            // A body that always has more must not keep its run from being cancelled.
            yield_now().await;
        }
        let mut limit = self.limits.silence(self.begun);
        if self.complete {
            limit = limit.min(AFTERTHOUGHT_PATIENCE);
        }
        let chunk = bounded(self.body.chunk(), limit, self.deadline)
            .await?
            .ok_or_else(|| failure::idle(&self.endpoint, limit))??;
        match &chunk {
            None => self.ended = true,
            Some(bytes) => {
                self.received = self.received.saturating_add(bytes.len() as u64);
                if self.received > self.limits.max_response_bytes {
                    return Err(failure::too_large(
                        &self.endpoint,
                        self.limits.max_response_bytes,
                    ));
                }
            }
        }
        Ok(chunk)
    }

    /// Lets the connection go back to the pool when nothing of interest follows.
    ///
    /// An HTTP/1.1 connection can only be used again once its last answer was read to the end,
    /// and that end may arrive a moment after the last event. Waiting long for it would delay
    /// the caller, and dropping the stream would cost the next request a new connection.
    pub(crate) async fn release(self) {
        if self.ended {
            return;
        }
        let mut body = self.body;
        let mut drain = Box::pin(async move {
            while let Ok(Some(_)) = body.chunk().await {
                yield_now().await;
            }
        });
        if timeout(RELEASE_PATIENCE, &mut drain).await.is_err() {
            tokio::spawn(timeout(DRAIN_PATIENCE, drain));
        }
    }
}

fn media_type(headers: &HeaderMap) -> &str {
    let header = headers.get(CONTENT_TYPE);
    let value = header.and_then(|value| value.to_str().ok());
    value
        .and_then(|value| value.split(';').next())
        .unwrap_or_default()
        .trim()
}
