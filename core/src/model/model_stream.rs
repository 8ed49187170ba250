//! One request to a model, without an agent around it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::{Model, ModelRequest, ModelResponse};
use crate::error::{Error, ErrorKind, Result};
use crate::event::StreamEvent;
use crate::panics::caught;
use crate::run::{EventSender, Item, Outbox};

/// The events of one request to a model. Nothing is sent before the first poll, and dropping the
/// stream closes the connection.
///
/// ```no_run
/// use futures_util::StreamExt;
/// use little_ghost::provider::ProviderConfig;
/// use little_ghost::{Message, ModelRequest, ModelStream, StreamEvent};
///
/// # async fn example(key: &str) -> little_ghost::Result<()> {
/// let claude = ProviderConfig::anthropic(key).connect("claude-sonnet-4-5")?;
/// let request = ModelRequest::new([Message::user("Hello!")]);
/// let mut stream = ModelStream::new(claude, request);
/// while let Some(event) = stream.next().await {
///     if let StreamEvent::TextDelta { text } = event {
///         print!("{text}");
///     }
/// }
/// let response = stream.finish().await?;
/// println!("\n{:?}", response.stop_reason);
/// # Ok(())
/// # }
/// ```
pub struct ModelStream {
    outbox: Arc<Outbox>,
    state: State,
}

enum State {
    Open(Pin<Box<dyn Future<Output = Result<ModelResponse>> + Send>>),
    Ended(Box<Result<ModelResponse>>),
}

impl ModelStream {
    /// A request that has not begun.
    pub fn new(model: Arc<impl Model + ?Sized + 'static>, request: ModelRequest) -> Self {
        let outbox = Outbox::for_task();
        let events = EventSender::new(Arc::clone(&outbox));
        let work = async move { caught("the model", model.stream(&request, &events)).await };
        Self {
            outbox,
            state: State::Open(Box::pin(work)),
        }
    }

    /// Passes over the events that nobody read, and returns the response.
    ///
    /// # Errors
    /// As [`Model::stream`].
    pub async fn finish(mut self) -> Result<ModelResponse> {
        std::future::poll_fn(|context| {
            while Pin::new(&mut self).poll_next(context).is_ready() {
                if matches!(self.state, State::Ended(_)) {
                    return Poll::Ready(());
                }
            }
            Poll::Pending
        })
        .await;
        match self.state {
            State::Ended(outcome) => *outcome,
            State::Open(_) => Err(Error::new(
                ErrorKind::Error,
                "the request ended without an outcome",
            )),
        }
    }
}

impl Stream for ModelStream {
    type Item = StreamEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<StreamEvent>> {
        let this = &mut *self;
        if let State::Open(work) = &mut this.state
            && let Poll::Ready(outcome) = work.as_mut().poll(context)
        {
            this.state = State::Ended(Box::new(outcome));
        }
        loop {
            match this.outbox.poll_next(context) {
                Poll::Ready(Item::Event(event)) => return Poll::Ready(Some(event)),
                Poll::Ready(_) => {}
                Poll::Pending if matches!(this.state, State::Ended(_)) => {
                    return Poll::Ready(None);
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl fmt::Debug for ModelStream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.state {
            State::Open(_) => "open",
            State::Ended(_) => "ended",
        };
        write!(formatter, "ModelStream({state})")
    }
}
