//! One request to a model, independent of any wire format.

use std::sync::Arc;

use serde_json::{Map, Value};

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
