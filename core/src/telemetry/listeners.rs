//! The subscribers of a runtime, and what becomes of those that fail.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use super::Subscriber;
use crate::run::{InstrumentPhase, Notice, NoticeLevel};

/// The name of the notice about a subscriber that failed.
const FAILED: &str = "little_ghost.instrumentation.listener_failed";

#[derive(Default)]
pub(super) struct Listeners {
    subscribers: Vec<Arc<dyn Subscriber>>,
    failed: Mutex<HashSet<usize>>,
}

impl Listeners {
    pub(super) fn new(subscribers: Vec<Arc<dyn Subscriber>>) -> Self {
        Self {
            subscribers,
            failed: Mutex::default(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.subscribers.is_empty()
    }

    pub(super) fn tell(&self, phase: InstrumentPhase, name: &str, attributes: &Map<String, Value>) {
        self.each(|subscriber| match phase {
            InstrumentPhase::Start => subscriber.start(name, attributes),
            InstrumentPhase::Finish => subscriber.finish(name, attributes),
            InstrumentPhase::Notify => subscriber.emit(name, attributes),
        });
    }

    pub(super) fn notice(&self, notice: &Notice) {
        self.each(|subscriber| subscriber.notice(notice));
    }

    fn each(&self, tell: impl Fn(&dyn Subscriber)) {
        for (index, subscriber) in self.subscribers.iter().enumerate() {
            if catch_unwind(AssertUnwindSafe(|| tell(&**subscriber))).is_err()
                && self.failed.lock().insert(index)
            {
                self.report(index);
            }
        }
    }

    /// Tells the others. One that fails at this too is not told of again.
    fn report(&self, failed: usize) {
        tracing::warn!(target: "little_ghost", component = failed, "a telemetry subscriber panicked");
        let mut payload = Map::new();
        payload.insert("component".into(), json!(failed));
        payload.insert("error_type".into(), json!("panic"));
        let notice = Notice::new(NoticeLevel::Warn, FAILED, payload);
        for (index, subscriber) in self.subscribers.iter().enumerate() {
            if index != failed {
                let told = catch_unwind(AssertUnwindSafe(|| subscriber.notice(&notice)));
                if told.is_err() {
                    self.failed.lock().insert(index);
                }
            }
        }
    }
}
