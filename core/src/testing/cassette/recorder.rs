//! Listening to real exchanges.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use parking_lot::Mutex;

use super::exchange::{Exchange, Request, Response};
use super::scrub::Scrubber;
use crate::error::Result;
use crate::http::{Answer, Body, Next, Post, Source};

/// What was heard so far. An answer that is still arriving grows in here.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    tapes: Mutex<Vec<Arc<Mutex<Exchange>>>>,
    /// A request got no answer at all: the service could not be reached.
    unanswered: AtomicBool,
}

impl Recorder {
    /// Sends the request on and listens to the answer.
    pub(super) async fn send(&self, post: &Post, body: Bytes, next: Next<'_>) -> Result<Answer> {
        let request = Request::new(post, &body);
        let sent = next.send(post, body).await;
        let mut answer = sent.inspect_err(|_| self.unanswered.store(true, Ordering::Relaxed))?;
        let tape = Arc::new(Mutex::new(Exchange {
            request,
            response: Response {
                status: answer.status,
                headers: Response::kept(&answer.headers),
                chunks: Vec::new(),
                complete: false,
            },
        }));
        self.tapes.lock().push(Arc::clone(&tape));
        let inner = answer.body;
        answer.body = Body::Source(Box::new(Listening { inner, tape }));
        Ok(answer)
    }

    /// Whether requests were made, and none was answered.
    pub(super) fn heard_nothing(&self) -> bool {
        self.unanswered.load(Ordering::Relaxed) && self.tapes.lock().is_empty()
    }

    /// Every exchange so far.
    pub(super) fn exchanges(&self) -> Vec<Exchange> {
        let tapes = self.tapes.lock();
        tapes.iter().map(|tape| tape.lock().clone()).collect()
    }
}

/// Keeps what a request is authorised by from ever being written.
pub(super) fn learn(scrubber: &Mutex<Scrubber>, post: &Post) {
    scrubber
        .lock()
        .add_request(post.endpoint.url(), &post.headers);
}

struct Listening {
    inner: Body,
    tape: Arc<Mutex<Exchange>>,
}

#[async_trait]
impl Source for Listening {
    async fn chunk(&mut self) -> Result<Option<Bytes>> {
        let chunk = self.inner.chunk().await?;
        let mut tape = self.tape.lock();
        match &chunk {
            Some(bytes) => tape.response.chunks.push(bytes.clone()),
            None => tape.response.complete = true,
        }
        Ok(chunk)
    }
}
