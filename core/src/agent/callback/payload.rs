//! What callbacks are told.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::error::Error;
use crate::message::{Message, ToolResultContent, ToolStatus, ToolUse};
use crate::model::{ModelRequest, ModelResponse};
use crate::run::RunResult;

/// An invocation is about to begin.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct BeforeInvocation {
    /// The conversation so far, system message first.
    pub messages: Arc<Vec<Message>>,
}

/// An invocation has its result.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct AfterInvocation {
    /// The result.
    pub result: Arc<RunResult>,
}

/// A request is about to be sent.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct BeforeModel {
    /// The request.
    pub request: ModelRequest,
    /// Model call, counted from zero.
    pub turn: u32,
    /// What this invocation is a part of.
    pub parent_operation_id: Arc<str>,
}

/// The model answered.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct AfterModel {
    /// The request.
    pub request: ModelRequest,
    /// The response.
    pub response: Arc<ModelResponse>,
    /// Model call, counted from zero.
    pub turn: u32,
}

/// The model failed.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct AfterModelError {
    /// The request.
    pub request: ModelRequest,
    /// What went wrong.
    pub error: Error,
    /// Model call, counted from zero.
    pub turn: u32,
    /// What this invocation is a part of.
    pub parent_operation_id: Arc<str>,
}

/// A tool is about to run.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct BeforeTool {
    /// The model's call, whose input fits the tool's schema.
    pub tool_use: Arc<ToolUse>,
    /// Identifier of this execution.
    pub operation_id: Arc<str>,
    /// The invocation that asked for it.
    pub parent_operation_id: Arc<str>,
}

/// A tool call has its outcome.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct AfterTool {
    /// The model's call.
    pub tool_use: Arc<ToolUse>,
    /// Identifier of this execution.
    pub operation_id: Arc<str>,
    /// The invocation that asked for it.
    pub parent_operation_id: Arc<str>,
    /// What came of it.
    pub outcome: ToolOutcome,
}

/// What came of one tool call.
#[derive(Clone, Debug)]
pub struct ToolOutcome {
    /// What the tool returned, when it did.
    pub value: Option<Value>,
    /// What the model reads, before it is cut to the agent's limit.
    pub content: ToolResultContent,
    /// Whether the call succeeded.
    pub status: ToolStatus,
    /// Why it did not.
    pub error: Option<Error>,
}

impl ToolOutcome {
    /// `{content, status, error?}`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut value = json!({
            "content": self.content.to_value(), "status": self.status.as_str(),
        });
        if let (Some(map), Some(error)) = (value.as_object_mut(), &self.error) {
            map.insert("error".into(), error.to_value());
        }
        value
    }
}
