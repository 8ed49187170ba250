//! Work of an application between its beginning and its end.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::Telemetry;
use crate::run::InstrumentPhase;

/// Work that was announced and whose end will be: by [`Operation::finish`], or as an error when it is
/// dropped before.
#[must_use = "an operation ends when it is dropped"]
pub struct Operation {
    telemetry: Option<Telemetry>,
    name: &'static str,
    operation_id: Arc<str>,
    attributes: Map<String, Value>,
    began: Instant,
}

impl Operation {
    pub(super) fn begin(
        telemetry: &Telemetry,
        name: &'static str,
        parent: Option<&str>,
        mut attributes: Map<String, Value>,
    ) -> Self {
        let operation_id: Arc<str> = Uuid::new_v4().to_string().into();
        attributes.insert("operation_id".into(), json!(*operation_id));
        if let Some(parent) = parent {
            attributes.insert("parent_operation_id".into(), json!(parent));
        }
        telemetry.tell(InstrumentPhase::Start, name, &attributes);
        Self {
            telemetry: Some(telemetry.clone()),
            name,
            operation_id,
            attributes,
            began: Instant::now(),
        }
    }

    /// The identifier of the operation, a UUID.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.operation_id
    }

    /// Ends the operation; `attributes` are added to those that it began with.
    pub fn finish(mut self, attributes: Map<String, Value>) {
        self.end(attributes);
    }

    fn end(&mut self, added: Map<String, Value>) {
        let Some(telemetry) = self.telemetry.take() else {
            return;
        };
        let mut attributes = std::mem::take(&mut self.attributes);
        attributes.extend(added);
        let milliseconds = self.began.elapsed().as_secs_f64() * 1_000.0;
        attributes.insert("duration_ms".into(), json!(milliseconds));
        telemetry.tell(InstrumentPhase::Finish, self.name, &attributes);
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        let mut attributes = Map::new();
        attributes.insert("outcome".into(), json!("error"));
        attributes.insert("error_type".into(), json!("CancelledError"));
        self.end(attributes);
    }
}

impl std::fmt::Debug for Operation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Operation")
            .field("name", &self.name)
            .field("operation_id", &self.operation_id)
            .finish_non_exhaustive()
    }
}
