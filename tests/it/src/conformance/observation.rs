//! What a run showed, in the shapes that all three languages share.

use little_ghost::{Error, StreamEvent, Usage};
use serde_json::{Value, json};

/// What a run showed.
#[derive(Debug, Default)]
pub struct Observation {
    /// `[type, data]` of every event.
    pub events: Vec<(String, Value)>,
    /// How the run ended, if there was one.
    pub outcome: Option<String>,
    /// The final text.
    pub response: String,
    /// Token counts.
    pub usage: Value,
    /// What they cost: a decimal, or null.
    pub cost: Value,
    /// `{class, message, status?}` of what ended the run.
    pub error: Option<Value>,
    /// The same of what was raised because there was no run, or none that could end properly.
    pub raised: Option<Value>,
    /// Whether `raised` came while the agent was declared.
    pub refused: bool,
    /// The value of the result: its structured value, else its text.
    pub output: Value,
    /// The shared state after the run.
    pub state: Value,
    /// What the store has of the conversation after the run.
    pub session: Value,
    /// The scripted server's journal.
    pub journal: Vec<Value>,
}

impl Observation {
    /// Nothing but a failure to declare what the case declares.
    pub(super) fn refused(error: &Error) -> Self {
        Self {
            raised: Some(error_value(error)),
            refused: true,
            ..Self::default()
        }
    }

    /// Nothing but a failure to make a run.
    pub(super) fn raised(error: &Error) -> Self {
        Self {
            raised: Some(error_value(error)),
            ..Self::default()
        }
    }

    pub(super) fn push(&mut self, event: &StreamEvent) {
        let mut data = event.data();
        if let Some(error) = data.get_mut("error").filter(|error| error.is_object()) {
            *error = shared_shape(error);
        }
        // The run's own is compared.
        if let Some(Value::Object(result)) = data.get_mut("result") {
            result.shift_remove("cost");
        }
        // Not every language keeps how the model gave the result.
        if let Some(structured) = data.pointer_mut("/result/structured") {
            *structured = json!({"name": structured["name"], "value": structured["value"]});
        }
        self.events.push((event.kind().to_owned(), data));
    }

    pub(super) fn set_usage(&mut self, usage: Usage) {
        self.usage = usage.to_value();
    }
}

/// `{class, message, status?}`, which is what every language can say about an error.
pub(super) fn error_value(error: &Error) -> Value {
    shared_shape(&error.to_value())
}

fn shared_shape(error: &Value) -> Value {
    let class = error.get("host_class").unwrap_or(&error["kind"]);
    let mut shape = json!({"class": class, "message": error["message"]});
    if let Some(status) = error.get("status") {
        shape["status"] = status.clone();
    }
    shape
}
