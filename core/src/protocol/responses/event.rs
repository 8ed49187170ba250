//! One streamed event, as much of it as matters.

use serde::Deserialize;
use serde_json::Value;

use crate::protocol::lenient::{Arguments, Position, Text};

#[derive(Debug, Default, Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(borrow, default)]
    pub(super) delta: Text<'a>,
    #[serde(default)]
    pub(super) output_index: Position,
    #[serde(borrow, default)]
    pub(super) item_id: Text<'a>,
    #[serde(borrow, default)]
    pub(super) arguments: Arguments<'a>,
    #[serde(default)]
    pub(super) item: Option<Value>,
    #[serde(default)]
    pub(super) response: Option<Value>,
    #[serde(default)]
    pub(super) error: Option<Value>,
    /// Of an `error` event that carries its fields itself.
    #[serde(default)]
    pub(super) code: Option<Value>,
    #[serde(default)]
    pub(super) message: Option<Value>,
}
