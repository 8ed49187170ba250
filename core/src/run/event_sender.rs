//! Where agents and models send their events.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use parking_lot::Mutex;

use super::Outbox;
use super::account::Account;
use super::agent_stream::Origin;
use super::curtain::Curtain;
use super::hold::Hold;
use super::place::Audience;
use crate::event::StreamEvent;

/// Sees the events of a part of a run before anybody gets them.
#[async_trait]
pub(crate) trait EventObserver: Send + Sync {
    async fn see(&self, event: &StreamEvent);
}

/// Where a model sends its events.
///
/// `send` waits while the consumer is far behind, so a slow consumer slows the
/// reader instead of growing memory.
#[derive(Clone)]
pub struct EventSender {
    outbox: Arc<Outbox>,
    account: Arc<Account>,
    audience: Audience,
    hold: Option<Hold>,
    observer: Option<Arc<dyn EventObserver>>,
    delivery: Delivery,
    origin: Option<Arc<Origin>>,
    curtain: Option<Curtain>,
    clock: Clock,
}

/// What becomes of the events of a sender.
#[derive(Clone, Debug)]
enum Delivery {
    /// The consumer gets them.
    Open,
    /// They wait until the response is complete. Tokens are counted at once.
    Held(Arc<Mutex<Vec<StreamEvent>>>),
    /// Nobody gets them. Tokens are counted.
    Counted,
}

impl EventSender {
    /// A sender to the consumer of `outbox`.
    pub(crate) fn new(outbox: Arc<Outbox>) -> Self {
        Self::of_part(outbox, Arc::default(), Audience::Everybody, None)
    }

    pub(super) fn of_part(
        outbox: Arc<Outbox>,
        account: Arc<Account>,
        audience: Audience,
        hold: Option<Hold>,
    ) -> Self {
        Self {
            outbox,
            account,
            audience,
            hold,
            observer: None,
            delivery: Delivery::Open,
            origin: None,
            curtain: None,
            clock: Clock(None),
        }
    }

    /// A sender whose events `observer` sees.
    pub(super) fn observed(mut self, observer: Option<Arc<dyn EventObserver>>) -> Self {
        self.observer = observer;
        self
    }

    /// The sender of an agent whose events also say whose they are.
    pub(super) fn of(mut self, origin: Origin) -> Self {
        self.origin = Some(Arc::new(origin));
        self
    }

    /// The sender of an agent whose calls of the tools `names` are nobody else's business.
    pub(crate) fn hiding(&self, names: &'static [&'static str]) -> Self {
        Self {
            curtain: Some(Curtain::before(names)),
            ..self.clone()
        }
    }

    /// A sender that measures, if anybody wants to know, how long the first token takes.
    pub(crate) fn timed(&self) -> (Self, Clock) {
        let started = self.outbox.is_instrumented().then(Started::now);
        let clock = Clock(started.map(Arc::new));
        let mut sender = self.clone();
        sender.clock = clock.clone();
        (sender, clock)
    }

    fn delivering(&self, delivery: Delivery) -> Self {
        Self {
            delivery,
            ..self.clone()
        }
    }

    /// A sender that holds events back; [`take_held`](Self::take_held) has them.
    pub(crate) fn holding(&self) -> Self {
        self.delivering(Delivery::Held(Arc::default()))
    }

    /// A sender for a model call aside: its tokens count, its events are nobody's.
    pub(crate) fn counting(&self) -> Self {
        self.delivering(Delivery::Counted)
    }

    /// The events that were held back so far.
    pub(crate) fn take_held(&self) -> Vec<StreamEvent> {
        match &self.delivery {
            Delivery::Held(held) => std::mem::take(&mut *held.lock()),
            Delivery::Open | Delivery::Counted => Vec::new(),
        }
    }

    /// Delivers `event` to the consumer of the run.
    pub async fn send(&self, event: StreamEvent) {
        self.clock.see(&event);
        if self
            .curtain
            .as_ref()
            .is_some_and(|curtain| curtain.hides(&event))
        {
            return;
        }
        if let StreamEvent::ModelRetry(_) = &event {
            self.outbox.notify("model_retry", || event.data());
        }
        match &self.delivery {
            Delivery::Open => {
                self.account.count_event(&event);
                if let Some(observer) = &self.observer {
                    observer.see(&event).await;
                }
                if let Some(origin) = &self.origin {
                    self.outbox.send(origin.wrap(&event)).await;
                }
                if let Some(hold) = &self.hold {
                    hold.push(event);
                } else if self.audience.hears(&event) {
                    if matches!(event, StreamEvent::TextDelta { .. }) {
                        self.account.speak();
                    }
                    self.outbox.send(event).await;
                }
            }
            Delivery::Held(held) => {
                self.account.count_event(&event);
                held.lock().push(event);
            }
            Delivery::Counted => self.account.count_event(&event),
        }
    }
}

impl fmt::Debug for EventSender {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("EventSender")
            .field("audience", &self.audience)
            .finish_non_exhaustive()
    }
}

impl Origin {
    fn wrap(&self, event: &StreamEvent) -> StreamEvent {
        let begins = matches!(event, StreamEvent::InvocationStart { .. });
        StreamEvent::AgentStream {
            source: Arc::clone(&self.source),
            event: Box::new(event.clone()),
            input: self.input.clone().filter(|_| begins),
        }
    }
}

/// Measures how long the first token takes, if anybody wants to know.
#[derive(Clone, Debug)]
pub(crate) struct Clock(Option<Arc<Started>>);

#[derive(Debug)]
struct Started {
    at: Instant,
    first_token: OnceLock<Duration>,
}

impl Started {
    fn now() -> Self {
        Self {
            at: Instant::now(),
            first_token: OnceLock::new(),
        }
    }
}

impl Clock {
    fn see(&self, event: &StreamEvent) {
        if let Some(started) = &self.0
            && matches!(
                event,
                StreamEvent::TextDelta { .. }
                    | StreamEvent::ReasoningDelta { .. }
                    | StreamEvent::ToolCallStart { .. }
            )
        {
            started.first_token.get_or_init(|| started.at.elapsed());
        }
    }

    /// Seconds until the first token, if there was one.
    pub(crate) fn elapsed(&self) -> Option<f64> {
        let started = self.0.as_ref()?;
        started.first_token.get().map(Duration::as_secs_f64)
    }
}
