//! One streamed event, as much of it as matters.

use serde::Deserialize;
use serde_json::Value;

use crate::protocol::lenient::{Arguments, Position, Text};

#[derive(Debug, Default, Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(default)]
    pub(super) index: Position,
    #[serde(borrow, default)]
    pub(super) delta: Option<Delta<'a>>,
    #[serde(default)]
    pub(super) content_block: Option<Value>,
    /// Of `message_start`: the answer so far.
    #[serde(default)]
    pub(super) message: Option<Value>,
    #[serde(default)]
    pub(super) usage: Option<Value>,
    #[serde(default)]
    pub(super) error: Option<Value>,
}

/// What a block, or the message, gains.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow, default)]
    pub(super) text: Text<'a>,
    #[serde(borrow, default)]
    pub(super) thinking: Text<'a>,
    #[serde(borrow, default)]
    pub(super) signature: Text<'a>,
    #[serde(borrow, default)]
    pub(super) partial_json: Arguments<'a>,
    #[serde(borrow, default)]
    pub(super) stop_reason: Text<'a>,
    #[serde(default)]
    pub(super) stop_sequence: Option<Value>,
    #[serde(default)]
    pub(super) stop_details: Option<Value>,
}
