//! What a run has to say besides its events: warnings, and facts for instrumentation.

use serde_json::Value;

use super::{Item, Notice, NoticeLevel, RunCore};

impl RunCore {
    /// Something that the application should know, although the run goes on.
    pub(crate) fn warn(&self, name: &str, payload: Value) {
        tracing::warn!(target: "little_ghost", run_id = self.invocation.run_id(), name, %payload);
        if let Value::Object(payload) = payload {
            let notice = Notice::new(NoticeLevel::Warn, name, payload);
            self.outbox.push(Item::Notice(notice));
        }
    }

    /// A fact for instrumentation.
    pub(crate) fn notify(&self, name: &'static str, attributes: Value) {
        self.outbox.notify(name, || attributes);
    }
}
