//! One model call: attempts, retries and what is told about them.

use bytes::Bytes;
use serde_json::{Map, Value};
use tokio::time::sleep;

use super::secret::Secret;
use crate::deadline::Deadline;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{ModelRetry, StreamEvent};
use crate::http::{Frame, Post, ResponseStream, RetryPolicy, SseDecoder};
use crate::message::Usage;
use crate::model::ModelResponse;
use crate::protocol::failure::classify_http;
use crate::protocol::{Decoder, Progress};
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
    pub(super) events: &'a EventSender,
}

/// What one attempt delivered.
#[derive(Default)]
struct Delivered {
    text: bool,
    usage: bool,
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
        loop {
            let mut decoder = decoder();
            let mut delivered = Delivered::default();
            let error = match self.attempt(&mut *decoder, &mut delivered).await {
                Ok(mut response) => {
                    response.usage += lost;
                    return Ok(response);
                }
                Err(error) => self.redact(classify_http(error)),
            };
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
            sleep(delay).await;
            attempt += 1;
        }
    }

    async fn attempt(
        &self,
        decoder: &mut dyn Decoder,
        delivered: &mut Delivered,
    ) -> Result<ModelResponse> {
        let mut stream = self.post.send(self.body.clone(), self.deadline).await?;
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
        let mut sse = SseDecoder::new(self.max_frame());
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
                decoder.push(frame, batch)
            };
            let fed = match &chunk {
                Some(bytes) => sse.feed(bytes, &mut sink),
                None => sse.finish(&mut sink),
            };
            // What arrived before a failure is delivered before the failure is.
            if batch.iter().any(is_content) {
                stream.content_begun();
            }
            self.deliver(batch, delivered).await;
            fed?;
            match decoder.progress() {
                Progress::Done => return Ok(()),
                Progress::Complete => stream.content_complete(),
                Progress::Open => {}
            }
            if chunk.is_none() {
                return if any || stream.is_event_stream() {
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

    /// Takes secrets out of what a provider or a proxy repeated.
    fn redact(&self, error: Error) -> Error {
        self.secrets.iter().fold(error, |error, secret| {
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
