//! The bounded queue between a run's task and whoever consumes it.
//!
//! One queue serves every front door: Rust polls it as a `Stream`, Ruby and
//! Python drain it in batches after a wake-up of the signal. It owns the text of the message in
//! progress, because that is exactly what was handed over for delivery.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::sync::Notify;

use super::measurements::Measurements;
use super::{Instrument, InstrumentPhase, Notice};
use crate::event::StreamEvent;
use crate::host::{HostCall, WakeSignal};

/// Events that may wait for the consumer before the producer has to.
const CAPACITY: usize = 1_024;

/// One thing for the consumer of a run.
#[non_exhaustive]
#[derive(Debug)]
pub enum Item {
    /// Something happened.
    Event(StreamEvent),
    /// The host has to do something and answer with [`HostRun::complete`](crate::host::HostRun::complete).
    Call(HostCall),
    /// The call with this id no longer needs an answer.
    Cancelled(u64),
    /// The part of the run with this scope is over, and had nothing to close; the host can forget it.
    PartOver(u64),
    /// Something for the application's operators.
    Notice(Notice),
    /// A measurement, for hosts that asked for them.
    Instrument(Instrument),
    /// The run is over; nothing follows.
    Done,
}

/// How the outbox wakes its consumer.
#[derive(Debug)]
enum Consumer {
    /// A Rust task; the waker is set while it waits.
    Task(Option<Waker>),
    /// A host that waits on a file descriptor.
    Host(Arc<WakeSignal>),
}

#[derive(Debug)]
struct State {
    items: VecDeque<Item>,
    consumer: Consumer,
    abandoned: bool,
    muted: bool,
    text: String,
    last_text: String,
}

/// The queue itself.
#[derive(Debug)]
pub(crate) struct Outbox {
    state: Mutex<State>,
    space: Notify,
    pub(crate) measurements: Measurements,
}

impl Outbox {
    pub(crate) fn for_task() -> Arc<Self> {
        Self::new(Consumer::Task(None))
    }

    pub(crate) fn for_host(signal: Arc<WakeSignal>) -> Arc<Self> {
        Self::new(Consumer::Host(signal))
    }

    fn new(consumer: Consumer) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                items: VecDeque::new(),
                consumer,
                abandoned: false,
                muted: false,
                text: String::new(),
                last_text: String::new(),
            }),
            space: Notify::new(),
            measurements: Measurements::default(),
        })
    }

    /// Keeps account of events without queueing them: the consumer asked only for the ending.
    pub(crate) fn mute(&self) {
        self.state.lock().muted = true;
    }

    /// Whether anybody takes measurements.
    pub(crate) fn is_instrumented(&self) -> bool {
        self.measurements.are_wanted()
    }

    /// Whether the content of measurements may be of use to anybody.
    pub(crate) fn may_have_content(&self) -> bool {
        self.measurements.may_have_content()
    }

    /// Tells of a point event, if anybody wants to know.
    pub(crate) fn notify(&self, name: &'static str, attributes: impl FnOnce() -> Value) {
        if self.is_instrumented()
            && let Value::Object(attributes) = attributes()
        {
            self.measure(InstrumentPhase::Notify, name, attributes);
        }
    }

    /// Tells subscribers of a measurement, and queues it for a host that wants it.
    pub(crate) fn measure(
        &self,
        phase: InstrumentPhase,
        name: &'static str,
        attributes: Map<String, Value>,
    ) {
        let attributes = self.measurements.complete(phase, name, attributes);
        if self.measurements.tells_host() {
            self.push(Item::Instrument(Instrument::new(phase, name, attributes)));
        }
    }

    /// Tells subscribers of a notice, and queues it for a host.
    pub(crate) fn report(&self, notice: Notice) {
        self.measurements.notice(&notice);
        let mut state = self.state.lock();
        if matches!(state.consumer, Consumer::Host(_)) {
            state.push(Item::Notice(notice));
        }
    }

    /// Queues an event, waiting while the consumer is far behind.
    pub(crate) async fn send(&self, event: StreamEvent) {
        let Some(event) = self.offer(event) else {
            return;
        };
        // On the heap: every sender would have room for it, and hardly any waits.
        let later = Box::pin(self.send_later(event));
        later.await;
    }

    async fn send_later(&self, mut event: StreamEvent) {
        loop {
            // Enrolled before looking again, so that space made in between is not missed.
            let mut space = pin!(self.space.notified());
            space.as_mut().enable();
            match self.offer(event) {
                Some(refused) => event = refused,
                None => return,
            }
            space.await;
        }
    }

    /// Queues `event`, or returns it when there is no space.
    fn offer(&self, event: StreamEvent) -> Option<StreamEvent> {
        let mut state = self.state.lock();
        if state.abandoned {
            return None;
        }
        if state.items.len() >= CAPACITY && !state.muted {
            // Nobody was told of what was queued quietly.
            state.wake();
            return Some(event);
        }
        state.track(&event);
        if !state.muted {
            state.push(Item::Event(event));
        }
        None
    }

    /// Queues an item that must not wait: a call, its withdrawal, or the end.
    pub(crate) fn push(&self, item: Item) {
        self.state.lock().push(item);
    }

    /// Queues an item that can wait until there is another one: nobody is woken for it.
    pub(crate) fn push_quietly(&self, item: Item) {
        self.state.lock().items.push_back(item);
    }

    /// Takes everything that is there.
    pub(crate) fn drain(&self) -> VecDeque<Item> {
        let mut state = self.state.lock();
        if let Consumer::Host(signal) = &state.consumer {
            signal.clear();
        }
        let items = std::mem::take(&mut state.items);
        drop(state);
        if !items.is_empty() {
            self.space.notify_waiters();
        }
        items
    }

    /// Takes the next item, for a Rust consumer.
    pub(crate) fn poll_next(&self, context: &mut Context<'_>) -> Poll<Item> {
        let mut state = self.state.lock();
        match state.items.pop_front() {
            Some(item) => {
                let has_space = state.items.len() == CAPACITY / 2;
                drop(state);
                if has_space {
                    self.space.notify_waiters();
                }
                Poll::Ready(item)
            }
            None => {
                if let Consumer::Task(waker) = &mut state.consumer {
                    match waker {
                        Some(waker) if waker.will_wake(context.waker()) => {}
                        other => *other = Some(context.waker().clone()),
                    }
                }
                Poll::Pending
            }
        }
    }

    /// Drops undelivered events and those that follow: nobody reads any more. What the engine
    /// still needs of a host stays.
    pub(crate) fn abandon(&self) {
        let dropped: VecDeque<Item> = {
            let mut state = self.state.lock();
            state.abandoned = true;
            let (kept, dropped) = std::mem::take(&mut state.items)
                .into_iter()
                .partition(|item| !matches!(item, Item::Event(_)));
            state.items = kept;
            dropped
        };
        drop(dropped);
        self.space.notify_waiters();
    }

    /// The text to keep when a deadline ends the run: of the message in progress, else of the
    /// last complete message that had any.
    pub(crate) fn text_so_far(&self) -> String {
        let state = self.state.lock();
        let current = state.text.trim();
        if current.is_empty() {
            state.last_text.trim().to_owned()
        } else {
            current.to_owned()
        }
    }
}

impl State {
    fn push(&mut self, item: Item) {
        // An abandoned host run still needs its closing calls.
        if self.abandoned && matches!(item, Item::Event(_)) {
            return;
        }
        self.items.push_back(item);
        self.wake();
    }

    /// Wakes the consumer: once until it looks, however much there is.
    fn wake(&mut self) {
        match &mut self.consumer {
            Consumer::Task(waker) => {
                if let Some(waker) = waker.take() {
                    waker.wake();
                }
            }
            Consumer::Host(signal) => signal.wake(),
        }
    }

    fn track(&mut self, event: &StreamEvent) {
        match event {
            StreamEvent::TextDelta { text } => self.text.push_str(text),
            StreamEvent::ModelStart { .. } | StreamEvent::ModelRetry(_) => self.text.clear(),
            StreamEvent::Assembly(event) if event.supersedes() => {
                self.text.clear();
                self.last_text.clear();
            }
            StreamEvent::MessageStop { .. } => {
                let text = std::mem::take(&mut self.text);
                if !text.trim().is_empty() {
                    self.last_text = text;
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Told(AtomicUsize);

    impl Wake for Told {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn who_waits_for_space_has_the_consumer_look() {
        let outbox = Outbox::for_task();
        let told = Arc::new(Told::default());
        let waker = Waker::from(Arc::clone(&told));
        let mut consumer = Context::from_waker(&waker);
        assert!(outbox.poll_next(&mut consumer).is_pending());
        for scope in 1..=CAPACITY as u64 {
            outbox.push_quietly(Item::PartOver(scope));
        }
        assert_eq!(told.0.load(Ordering::Relaxed), 0);

        let mut sending = pin!(outbox.send(StreamEvent::TextDelta { text: "x".into() }));
        let mut producer = Context::from_waker(Waker::noop());
        assert!(sending.as_mut().poll(&mut producer).is_pending());
        assert_eq!(told.0.load(Ordering::Relaxed), 1);

        assert_eq!(outbox.drain().len(), CAPACITY);
        assert!(sending.as_mut().poll(&mut producer).is_ready());
        assert!(matches!(outbox.drain().pop_front(), Some(Item::Event(_))));
    }
}
