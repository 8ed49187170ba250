//! One model call: attempts, retries and what is told about them.

use std::borrow::Cow;

use bytes::Bytes;
use serde_json::{Map, Value};
use tokio::time::sleep;

use super::authorizer::Authorizer;
use super::secret::Secret;
use super::substitute::{self, Substitute};
use crate::deadline::Deadline;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{ModelRetry, StreamEvent};
use crate::http::{Frame, Framing, Post, ResponseStream, RetryPolicy, within};
use crate::message::Usage;
use crate::model::ModelResponse;
use crate::protocol::failure::classify_http;
use crate::protocol::{Decoder, Progress, take};
use crate::run::EventSender;

/// The largest event that is accepted: an inline image fits, a runaway server does not.
const MAX_FRAME: u64 = 16 * 1_024 * 1_024;

/// One rendered request and how to send it.
pub(super) struct Call<'a> {
    pub(super) post: &'a Post,
    pub(super) body: Bytes,
    pub(super) deadline: Option<Deadline>,
    pub(super) retry: RetryPolicy,
    pub(super) secrets: &'a [Secret],
    /// What proves who asks, unless the headers of `post` do.
    pub(super) authorizer: Option<&'a dyn Authorizer>,
    pub(super) framing: Framing,
    pub(super) events: &'a EventSender,
}

/// What one attempt delivered.
#[derive(Default)]
struct Delivered {
    text: bool,
    usage: bool,
}

/// A request that is about to be sent, with the secrets of this attempt.
struct Authorized<'a> {
    post: Cow<'a, Post>,
    secrets: Vec<Secret>,
}

impl Call<'_> {
    /// Sends the request until an attempt succeeds, its failure is final or retries are used up.
    ///
    /// Tokens of failed attempts count: they are announced with a `usage` event of their own and
    /// are part of the response's usage.
    pub(super) async fn run(
        &self,
        decoder: impl Fn() -> Box<dyn Decoder>,
    ) -> Result<ModelResponse> {
        let mut lost = Usage::default();
        let mut attempt = 1;
        let mut refreshed = false;
        let substitute = substitute::current();
        loop {
            let mut decoder = decoder();
            let mut delivered = Delivered::default();
            let authorized = self
                .authorized()
                .await
                .map_err(|error| with_usage(error, lost))?;
            let sent = self.attempt(
                &authorized.post,
                substitute.as_deref(),
                &mut *decoder,
                &mut delivered,
            );
            let error = match sent.await {
                Ok(mut response) => {
                    response.usage += lost;
                    return Ok(response);
                }
                Err(error) => redact(
                    classify_http(error),
                    self.secrets.iter().chain(&authorized.secrets),
                ),
            };
            if !refreshed && self.is_refused(&error) {
                refreshed = true;
                continue;
            }
            let usage = decoder.usage();
            if usage != Usage::default() {
                lost += usage;
                if !delivered.usage {
                    self.events.send(StreamEvent::Usage { usage }).await;
                }
            }
            let delay = self
                .retry
                .pause(&error, attempt, self.deadline)
                .map_err(|error| with_usage(error, lost))?;
            if let Some(substitute) = &substitute {
                let told = substitute.retrying(attempt, &error, delay).await;
                told.map_err(|error| with_usage(error, lost))?;
            }
            self.events
                .send(StreamEvent::ModelRetry(ModelRetry {
                    attempt,
                    delay,
                    error_class: error.class_name().to_owned(),
                    partial_text: delivered.text,
                    http_status: error.status(),
                    error_code: error.code().map(str::to_owned),
                }))
                .await;
            match &substitute {
                Some(substitute) => {
                    let paused = substitute.pause(delay).await;
                    paused.map_err(|error| with_usage(error, lost))?;
                }
                None => sleep(delay).await,
            }
            attempt += 1;
        }
    }

    async fn authorized(&self) -> Result<Authorized<'_>> {
        let Some(authorizer) = self.authorizer else {
            return Ok(Authorized {
                post: Cow::Borrowed(self.post),
                secrets: Vec::new(),
            });
        };
        let mut post = self.post.clone();
        let secrets = authorizer
            .authorize(&mut post, &self.body, self.deadline)
            .await?;
        Ok(Authorized {
            post: Cow::Owned(post),
            secrets,
        })
    }

    /// Whether the service refused credentials of which there may be newer ones.
    fn is_refused(&self, error: &Error) -> bool {
        matches!(error.status(), Some(401 | 403))
            && self.authorizer.is_some_and(Authorizer::refused)
    }

    async fn attempt(
        &self,
        post: &Post,
        substitute: Option<&dyn Substitute>,
        decoder: &mut dyn Decoder,
        delivered: &mut Delivered,
    ) -> Result<ModelResponse> {
        let sending = post.send(self.body.clone(), self.deadline);
        let mut stream = match substitute.and_then(Substitute::transport) {
            Some(transport) => within(&transport, sending).await?,
            None => sending.await?,
        };
        let mut batch = Vec::new();
        if stream.is_json() {
            self.document(&mut stream, decoder, &mut batch).await?;
        } else {
            self.stream(&mut stream, decoder, &mut batch, delivered)
                .await?;
        }
        let finished = decoder.finish(&mut batch);
        self.deliver(&mut batch, delivered).await;
        let response = finished?;
        stream.release().await;
        Ok(response)
    }

    async fn stream(
        &self,
        stream: &mut ResponseStream,
        decoder: &mut dyn Decoder,
        batch: &mut Vec<StreamEvent>,
        delivered: &mut Delivered,
    ) -> Result<()> {
        let mut frames = self.framing.decoder(self.max_frame());
        let mut any = false;
        loop {
            let chunk = match stream.next().await {
                Ok(chunk) => chunk,
                // The answer is whole; a server that then hangs or breaks takes nothing away.
                Err(error)
                    if decoder.progress() == Progress::Complete
                        && error.kind() == ErrorKind::Http =>
                {
                    return Ok(());
                }
                Err(error) => return Err(error),
            };
            let mut sink = |frame: Frame<'_>| {
                any = true;
                take(decoder, frame, batch)
            };
            let fed = match &chunk {
                Some(bytes) => frames.feed(bytes, &mut sink),
                None => frames.finish(&mut sink),
            };
            // What arrived before a failure is delivered before the failure is.
            if batch.iter().any(is_content) {
                stream.content_begun();
            }
            self.deliver(batch, delivered).await;
            // Bytes behind the end may be no frames.
            if decoder.progress() == Progress::Done {
                return Ok(());
            }
            fed?;
            match decoder.progress() {
                Progress::Complete => stream.content_complete(),
                Progress::Open | Progress::Done => {}
            }
            if chunk.is_none() {
                return if any || self.framing.is_announced(stream) {
                    Ok(())
                } else {
                    Err(stream.wrong_type())
                };
            }
        }
    }

    /// Takes the answer of a service that does not stream, or reports a failure as a success.
    async fn document(
        &self,
        stream: &mut ResponseStream,
        decoder: &mut dyn Decoder,
        batch: &mut Vec<StreamEvent>,
    ) -> Result<()> {
        let mut body = Vec::new();
        while let Some(bytes) = stream.next().await? {
            body.extend_from_slice(&bytes);
        }
        let frame = Frame {
            event: b"",
            data: &body,
        };
        decoder.push(frame, batch)?;
        if decoder.progress() == Progress::Open {
            return Err(stream.wrong_type());
        }
        Ok(())
    }

    async fn deliver(&self, batch: &mut Vec<StreamEvent>, delivered: &mut Delivered) {
        for event in batch.drain(..) {
            match &event {
                StreamEvent::TextDelta { .. } => delivered.text = true,
                StreamEvent::Usage { .. } => delivered.usage = true,
                _ => {}
            }
            self.events.send(event).await;
        }
    }

    fn max_frame(&self) -> usize {
        usize::try_from(self.post.limits.max_response_bytes.min(MAX_FRAME)).unwrap_or(usize::MAX)
    }
}

/// Takes secrets out of what a provider or a proxy repeated.
/// The error without secrets that a service may have repeated.
pub(crate) fn redact<'a>(error: Error, secrets: impl Iterator<Item = &'a Secret>) -> Error {
    secrets.fold(error, |error, secret| {
        let message = secret.redact(error.message());
        let body = error.body().and_then(|body| secret.redact(body));
        let error = match body {
            Some(body) => {
                let status = error.status();
                error.with_http(status, Some(body))
            }
            None => error,
        };
        match message {
            Some(message) => error.with_message(message),
            None => error,
        }
    })
}

fn is_content(event: &StreamEvent) -> bool {
    !matches!(event, StreamEvent::MessageStart { .. })
}

/// Keeps the tokens of attempts that came to nothing with the error that ends them.
fn with_usage(error: Error, lost: Usage) -> Error {
    if lost == Usage::default() {
        return error;
    }
    let mut data = match error.data() {
        Some(Value::Object(data)) => data.clone(),
        _ => Map::new(),
    };
    data.insert("usage".into(), lost.to_value());
    error.with_data(Value::Object(data))
}
