//! Operations of the engine, measured for whoever subscribes to them.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::Outbox;
use super::notice::InstrumentPhase;
use crate::error::{Error, ErrorKind};
use crate::message::Usage;

/// One operation from its start to its finish. Costs nothing when nobody subscribes.
///
/// An operation that is dropped before it finished was given up: it finishes as an error.
#[must_use = "an operation ends when it is dropped"]
pub(crate) struct Operation(Option<Running>);

struct Running {
    outbox: Arc<Outbox>,
    name: &'static str,
    id: Arc<str>,
    parent: Option<Arc<str>>,
    /// What it began with, but content: its end says it too.
    attributes: Map<String, Value>,
    started: Instant,
}

impl Operation {
    /// An operation that nobody is told of.
    pub(crate) fn unmeasured() -> Self {
        Self(None)
    }

    /// Announces the start. `attributes` is only asked when somebody subscribes, and must be an
    /// object.
    pub(crate) fn start(
        outbox: &Arc<Outbox>,
        name: &'static str,
        id: &Arc<str>,
        parent: Option<&Arc<str>>,
        attributes: impl FnOnce() -> Value,
    ) -> Self {
        if !outbox.is_instrumented() {
            return Self::unmeasured();
        }
        let begun = attributes();
        let mut kept = begun.as_object().cloned().unwrap_or_default();
        kept.remove("diagnostic");
        let running = Running {
            outbox: Arc::clone(outbox),
            name,
            id: Arc::clone(id),
            parent: parent.cloned(),
            attributes: kept,
            started: Instant::now(),
        };
        running.announce(InstrumentPhase::Start, begun);
        Self(Some(running))
    }

    /// Announces the finish: `attributes`, as in [`Operation::start`], are added to those of the start.
    pub(crate) fn finish(mut self, attributes: impl FnOnce() -> Value) {
        if let Some(running) = self.0.take() {
            running.finish(attributes());
        }
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        if let Some(running) = self.0.take() {
            running.finish(failure(&running.outbox.measurements.reason()));
        }
    }
}

impl Running {
    fn finish(&self, added: Value) {
        let mut attributes = self.attributes.clone();
        if let Value::Object(added) = added {
            attributes.extend(added.into_iter().filter(|(_, value)| !value.is_null()));
        }
        let duration = self.started.elapsed().as_secs_f64() * 1_000.0;
        attributes.insert("duration_ms".into(), json!(duration));
        self.announce(InstrumentPhase::Finish, Value::Object(attributes));
    }

    fn announce(&self, phase: InstrumentPhase, attributes: Value) {
        let mut all = Map::new();
        all.insert("operation_id".into(), json!(*self.id));
        all.insert("parent_operation_id".into(), json!(self.parent.as_deref()));
        if let Value::Object(attributes) = attributes {
            all.extend(attributes.into_iter().filter(|(_, value)| !value.is_null()));
        }
        self.outbox.measure(phase, self.name, all);
    }
}

/// `{outcome: "error", error_type, http_response_status_code?}` and, under `diagnostic`, the exception.
pub(crate) fn failure(error: &Error) -> Value {
    let outcome = if error.is(ErrorKind::Cancelled) {
        "cancelled"
    } else {
        "error"
    };
    json!({
        "outcome": outcome, "error_type": error.class_name(),
        "http_response_status_code": error.status(),
        "diagnostic": {"exception": {"type": error.class_name(), "message": error.message()}},
    })
}

/// `attributes` with the five counters and `total_tokens`.
pub(crate) fn with_usage(mut attributes: Value, usage: Usage) -> Value {
    if let (Value::Object(attributes), Value::Object(usage)) = (&mut attributes, usage.to_value()) {
        attributes.extend(usage);
    }
    attributes
}
