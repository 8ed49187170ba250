//! Who is told of a run's measurements: the subscribers of its runtime, and its host.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::{Invocation, Notice};
use crate::deadline::Deadline;
use crate::error::Error;
use crate::telemetry::Telemetry;

/// Where the content of a measurement is, before a policy decides about it.
pub(super) const CONTENT: &str = "diagnostic";

/// Who is told of a run's measurements.
#[derive(Debug, Default)]
pub(crate) struct Measurements {
    run: OnceLock<RunFacts>,
    /// What every measurement carries.
    context: Mutex<Map<String, Value>>,
    /// What the host says of the run's own operation.
    of_host: Mutex<Map<String, Value>>,
    host: AtomicBool,
    host_content: AtomicBool,
}

#[derive(Debug)]
struct RunFacts {
    telemetry: Telemetry,
    token: CancellationToken,
    deadline: Option<Deadline>,
}

impl Measurements {
    /// Measures for `invocation`.
    pub(super) fn begin(
        &self,
        telemetry: Telemetry,
        invocation: &Invocation,
        token: CancellationToken,
    ) {
        let mut context = self.context.lock();
        context.insert("run_id".into(), json!(invocation.run_id()));
        context.insert("invocation_id".into(), json!(invocation.invocation_id()));
        context.insert("session_id".into(), json!(invocation.session_id()));
        drop(context);
        let _ = self.run.set(RunFacts {
            telemetry,
            token,
            deadline: invocation.deadline(),
        });
    }

    /// Tells the host too; with `content`, what users and models wrote as well, for its own policy.
    pub(crate) fn tell_host(&self, content: bool) {
        self.host.store(true, Ordering::Relaxed);
        self.host_content.store(content, Ordering::Relaxed);
    }

    pub(super) fn tells_host(&self) -> bool {
        self.host.load(Ordering::Relaxed)
    }

    /// Has every measurement of the run carry `attributes`.
    pub(crate) fn add_context(&self, attributes: Map<String, Value>) {
        self.context.lock().extend(attributes);
    }

    /// Adds to the run's own operation what only the host knows.
    pub(crate) fn describe_run(&self, attributes: Map<String, Value>) {
        *self.of_host.lock() = attributes;
    }

    /// The host's operation that the run, or the agent without one, is a part of.
    pub(super) fn parent_of_run(&self) -> Option<Arc<str>> {
        let of_host = self.of_host.lock();
        of_host
            .get("parent_operation_id")
            .and_then(Value::as_str)
            .map(Into::into)
    }

    /// What the run's own operation carries besides its identifiers.
    pub(super) fn of_run(&self) -> Map<String, Value> {
        let mut attributes = Map::new();
        let service = self
            .run
            .get()
            .map_or("little-ghost", |run| run.telemetry.service_name());
        attributes.insert("service_name".into(), json!(service));
        attributes.insert("entrypoint_kind".into(), json!("agent"));
        attributes.extend(self.of_host.lock().clone());
        attributes
    }

    fn subscribed(&self) -> Option<&Telemetry> {
        let telemetry = &self.run.get()?.telemetry;
        telemetry.is_active().then_some(telemetry)
    }

    /// Whether anybody takes measurements.
    pub(super) fn are_wanted(&self) -> bool {
        self.tells_host() || self.subscribed().is_some()
    }

    /// Whether anybody may be given content.
    pub(super) fn may_have_content(&self) -> bool {
        self.host_content.load(Ordering::Relaxed)
            || self.subscribed().is_some_and(Telemetry::captures)
    }

    /// Completes `attributes` by what every measurement carries, tells subscribers, and returns what
    /// the host is to be told.
    pub(super) fn complete(
        &self,
        phase: super::InstrumentPhase,
        name: &'static str,
        attributes: Map<String, Value>,
    ) -> Map<String, Value> {
        let mut complete = self.context.lock().clone();
        complete.extend(attributes);
        if let Some(telemetry) = self.subscribed() {
            let mut attributes = complete.clone();
            let content = attributes.shift_remove(CONTENT).unwrap_or_default();
            telemetry.relay(phase, name, attributes, &content);
        }
        if !self.host_content.load(Ordering::Relaxed) {
            complete.shift_remove(CONTENT);
        }
        complete
    }

    pub(super) fn notice(&self, notice: &Notice) {
        if let Some(run) = self.run.get() {
            run.telemetry.notice(notice);
        }
    }

    /// Why work was given up.
    pub(super) fn reason(&self) -> Error {
        let expired = self.run.get().is_some_and(|run| {
            !run.token.is_cancelled() && run.deadline.is_some_and(|deadline| deadline.is_past())
        });
        if expired {
            Error::deadline_exceeded()
        } else {
            Error::cancelled()
        }
    }
}
