//! What a run has to say besides its events: warnings, and facts for instrumentation.

use serde_json::Value;

use super::RunCore;

impl RunCore {
    /// Something that the application should know, although the run goes on.
    pub(crate) fn warn(&self, name: &'static str, payload: &Value) {
        tracing::warn!(target: "little_ghost", run_id = self.invocation.run_id(), name, %payload);
    }

    /// A fact for instrumentation.
    pub(crate) fn notify(&self, name: &'static str, attributes: &Value) {
        tracing::debug!(target: "little_ghost", run_id = self.invocation.run_id(), name, %attributes);
    }
}
