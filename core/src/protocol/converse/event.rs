//! One streamed event, as much of it as matters.

use serde::Deserialize;
use serde_json::Value;

use crate::protocol::lenient::{Arguments, Position, Text};

/// The fields of every kind of event: none means two things.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Event<'a> {
    #[serde(default, rename = "contentBlockIndex")]
    pub(super) index: Position,
    #[serde(default)]
    pub(super) start: Option<Value>,
    #[serde(borrow, default)]
    pub(super) delta: Option<Delta<'a>>,
    #[serde(borrow, default, rename = "stopReason")]
    pub(super) stop_reason: Text<'a>,
    #[serde(default, rename = "additionalModelResponseFields")]
    pub(super) additional: Option<Value>,
    #[serde(default)]
    pub(super) usage: Option<Value>,
    /// What guardrails found, where they were asked to tell.
    #[serde(default)]
    pub(super) trace: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow, default)]
    pub(super) text: Text<'a>,
    #[serde(borrow, default, rename = "toolUse")]
    pub(super) tool_use: Option<ToolUseDelta<'a>>,
    #[serde(borrow, default, rename = "reasoningContent")]
    pub(super) reasoning: Option<ReasoningDelta<'a>>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct ToolUseDelta<'a> {
    #[serde(borrow, default)]
    pub(super) input: Arguments<'a>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct ReasoningDelta<'a> {
    #[serde(borrow, default)]
    pub(super) text: Text<'a>,
    #[serde(borrow, default)]
    pub(super) signature: Text<'a>,
    #[serde(borrow, default, rename = "redactedContent")]
    pub(super) redacted: Text<'a>,
}
