//! What a run tells the application besides its events.

use serde_json::{Map, Value, json};

/// How important a [`Notice`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeLevel {
    /// Good to know.
    Info,
    /// Something to look after.
    Warn,
    /// Something failed.
    Error,
}

impl NoticeLevel {
    /// `"info"`, `"warn"` or `"error"`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            NoticeLevel::Info => "info",
            NoticeLevel::Warn => "warn",
            NoticeLevel::Error => "error",
        }
    }
}

/// Something for the application's operators.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// How important it is.
    pub level: NoticeLevel,
    /// Its dotted name, such as `"little_ghost.model.unknown"`.
    pub name: String,
    /// What it is about.
    pub payload: Map<String, Value>,
}

impl Notice {
    pub(crate) fn new(level: NoticeLevel, name: &str, payload: Map<String, Value>) -> Self {
        Self {
            level,
            name: name.to_owned(),
            payload,
        }
    }

    /// `{level, name, payload}`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({"level": self.level.as_str(), "name": self.name, "payload": self.payload})
    }
}

/// Whether an operation begins, ends, or something happened within one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstrumentPhase {
    /// An operation begins.
    Start,
    /// An operation ends.
    Finish,
    /// Something happened.
    Notify,
}

impl InstrumentPhase {
    /// `"start"`, `"finish"` or `"notify"`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            InstrumentPhase::Start => "start",
            InstrumentPhase::Finish => "finish",
            InstrumentPhase::Notify => "notify",
        }
    }
}

/// A measurement of the engine's work. Start and finish carry `operation_id` and
/// `parent_operation_id`; content that only a capture policy may let through is under `diagnostic`.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct Instrument {
    /// Where in the operation this is.
    pub phase: InstrumentPhase,
    /// The operation or the point, such as `"model"`.
    pub name: &'static str,
    /// Facts about it.
    pub attributes: Map<String, Value>,
}

impl Instrument {
    pub(crate) fn new(
        phase: InstrumentPhase,
        name: &'static str,
        attributes: Map<String, Value>,
    ) -> Self {
        Self {
            phase,
            name,
            attributes,
        }
    }

    /// `{phase, name, attributes}`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({
            "phase": self.phase.as_str(), "name": self.name, "attributes": self.attributes,
        })
    }
}
