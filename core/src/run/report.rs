//! What a run has to say besides its events: warnings, and facts for instrumentation.

use serde_json::{Map, Value, json};

use super::{Notice, NoticeLevel, RunCore};
use crate::assembly::Assembly;
use crate::model::Model;

impl RunCore {
    /// Has all measurements say which agent answers.
    pub(super) fn identify_agent(&self, id: &str) {
        let mut context = Map::new();
        context.insert("agent_id".into(), json!(id));
        self.outbox.measurements.add_context(context);
    }

    pub(super) fn identify_assembly(&self, assembly: &dyn Assembly) {
        let mut context = Map::new();
        context.insert("assembly_id".into(), json!(**assembly.id()));
        context.insert("assembly_kind".into(), json!(assembly.kind().as_str()));
        self.outbox.measurements.add_context(context);
    }

    /// Something that the application should know, although the run goes on.
    pub(crate) fn warn(&self, name: &str, payload: Value) {
        tracing::warn!(target: "little_ghost", run_id = self.invocation.run_id(), name, %payload);
        if let Value::Object(payload) = payload {
            let notice = Notice::new(NoticeLevel::Warn, name, payload);
            self.outbox.report(notice);
        }
    }

    /// Warns, once for each target, that nothing is known of a configured connection's model: then limits
    /// and modalities are not checked.
    pub(crate) fn warn_of_unknown(&self, model: &dyn Model) {
        let resolver = self.runtime.resolver();
        let target = model.target();
        let configured = target
            .split_once(':')
            .is_some_and(|(connection, _)| resolver.has_connection(connection));
        if configured && model.details().is_empty() && resolver.first_mention(target) {
            let payload = json!({
                "target": target,
                "model_role": model.role(),
                "advice": "nothing is known of this model, so its limits and modalities are not checked; \
                           refresh the catalog or state details in the model's profile",
            });
            self.warn("little_ghost.model.unknown", payload);
        }
    }

    /// A fact for instrumentation.
    pub(crate) fn notify(&self, name: &'static str, attributes: Value) {
        self.outbox.notify(name, || attributes);
    }
}
