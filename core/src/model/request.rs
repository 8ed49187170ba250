//! One request to a model, independent of any wire format.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::deadline::Deadline;
use crate::message::Message;
use crate::tool::ToolDefinition;

/// Everything a provider needs for one model call.
#[derive(Clone, Debug, Default)]
pub struct ModelRequest {
    /// The conversation, system message first.
    pub messages: Arc<Vec<Message>>,
    /// Tools the model may call.
    pub tools: Arc<[ToolDefinition]>,
    /// Provider settings such as `temperature` and `max_tokens`.
    pub settings: Map<String, Value>,
    /// Schema of the whole answer, for native structured output.
    pub output_schema: Option<OutputSchema>,
    /// Which tool the model must call, if any.
    pub tool_choice: Option<ToolChoice>,
    /// Capabilities that routing must guarantee.
    pub required_capabilities: Vec<String>,
    /// Absolute end of the request. Timeouts and retry pauses shrink to it.
    pub deadline: Option<Deadline>,
}

impl ModelRequest {
    /// A request with messages, the system message first, and nothing else.
    #[must_use]
    pub fn new(messages: impl Into<Vec<Message>>) -> Self {
        Self {
            messages: Arc::new(messages.into()),
            ..Self::default()
        }
    }

    /// `{messages, tools, settings, required_capabilities}`, and `output_schema`, `tool_choice`
    /// and `deadline_at` (seconds since the Unix epoch) when there is one.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        let messages: Vec<Value> = self.messages.iter().map(Message::to_value).collect();
        let tools: Vec<Value> = self.tools.iter().map(ToolDefinition::to_value).collect();
        map.insert("messages".into(), messages.into());
        map.insert("tools".into(), tools.into());
        map.insert("settings".into(), self.settings.clone().into());
        if let Some(schema) = &self.output_schema {
            map.insert("output_schema".into(), schema.to_value());
        }
        if let Some(choice) = &self.tool_choice {
            map.insert("tool_choice".into(), choice.to_value());
        }
        map.insert(
            "required_capabilities".into(),
            self.required_capabilities.clone().into(),
        );
        if let Some(deadline) = &self.deadline {
            map.insert("deadline_at".into(), json!(deadline.as_unix()));
        }
        Value::Object(map)
    }
}

impl OutputSchema {
    /// `{name, schema}`, and `description` when there is one.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut value = json!({"name": self.name, "schema": self.schema});
        if let (Some(text), Value::Object(map)) = (&self.description, &mut value) {
            map.insert("description".into(), json!(text));
        }
        value
    }
}

impl ToolChoice {
    /// `"required"`, or `{name}`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match self {
            ToolChoice::Required => json!("required"),
            ToolChoice::Named(name) => json!({"name": name}),
        }
    }
}

/// A schema for the model's whole answer.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputSchema {
    /// Name of the result, 1 to 64 of `[A-Za-z0-9_-]`.
    pub name: String,
    /// What the result is for.
    pub description: Option<String>,
    /// The JSON Schema.
    pub schema: Value,
}

/// Which tool the model must call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolChoice {
    /// Any one of the offered tools.
    Required,
    /// The named tool.
    Named(String),
}
