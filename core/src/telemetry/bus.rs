//! What a runtime measures, and who is told.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::Subscriber;
use super::listeners::Listeners;
use super::operation::Operation;
use crate::run::{InstrumentPhase, Notice};
use crate::support::{ContentCapture, DiagnosticKind};

/// Tells the subscribers of a runtime what happens. Cheap to clone.
///
/// Applications use it for work of their own, so that it appears beside the engine's:
///
/// ```
/// # fn example(runtime: &little_ghost::Runtime) {
/// use serde_json::Map;
///
/// let import = runtime.telemetry().start("import", None, Map::new());
/// // ... the work ...
/// import.finish(Map::new());
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Telemetry {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    listeners: Listeners,
    settings: TelemetrySettings,
}

/// What a [`Telemetry`] is made of.
#[derive(Clone, Default)]
pub(crate) struct TelemetrySettings {
    pub(crate) subscribers: Vec<Arc<dyn Subscriber>>,
    pub(crate) capture: ContentCapture,
    pub(crate) service_name: Option<String>,
}

impl Telemetry {
    pub(crate) fn new(settings: TelemetrySettings) -> Self {
        Self {
            inner: Arc::new(Inner {
                listeners: Listeners::new(settings.subscribers.clone()),
                settings,
            }),
        }
    }

    pub(crate) fn settings(&self) -> TelemetrySettings {
        self.inner.settings.clone()
    }

    /// Whether anybody is told.
    #[must_use]
    pub fn is_active(&self) -> bool {
        !self.inner.listeners.is_empty()
    }

    /// The name of the service in the telemetry of runs; `"little-ghost"` unless set.
    #[must_use]
    pub fn service_name(&self) -> &str {
        let name = self.inner.settings.service_name.as_deref();
        name.unwrap_or("little-ghost")
    }

    /// Announces the beginning of an operation of the application, as part of the operation `parent`.
    pub fn start(
        &self,
        name: &'static str,
        parent: Option<&str>,
        attributes: Map<String, Value>,
    ) -> Operation {
        Operation::begin(self, name, parent, attributes)
    }

    /// Tells that something happened.
    pub fn publish(&self, name: &str, attributes: &Map<String, Value>) {
        self.tell(InstrumentPhase::Notify, name, attributes);
    }

    pub(crate) fn captures(&self) -> bool {
        self.inner.settings.capture.is_enabled()
    }

    pub(super) fn tell(&self, phase: InstrumentPhase, name: &str, attributes: &Map<String, Value>) {
        self.inner.listeners.tell(phase, name, attributes);
    }

    /// Tells of a measurement, with as much of `content` as the policy lets through.
    pub(crate) fn relay(
        &self,
        phase: InstrumentPhase,
        name: &str,
        mut attributes: Map<String, Value>,
        content: &Value,
    ) {
        for kind in DiagnosticKind::ALL {
            let value = content.get(kind.as_str()).filter(|value| !value.is_null());
            if let Some(value) = value
                && let Some(text) = self.inner.settings.capture.capture(kind, value)
            {
                attributes.insert(kind.attribute().into(), json!(text));
            }
        }
        self.tell(phase, name, &attributes);
    }

    pub(crate) fn notice(&self, notice: &Notice) {
        self.inner.listeners.notice(notice);
    }
}

impl std::fmt::Debug for Telemetry {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Telemetry")
            .field("is_active", &self.is_active())
            .field("capture", &self.inner.settings.capture)
            .finish()
    }
}
