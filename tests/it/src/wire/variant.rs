//! The same answer in other bytes.

use serde_json::{Map, Value, json};

use super::case::Case;

/// How the answers of a case are sent. What must come of them is always the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// As they are written.
    Written,
    /// One byte at a time.
    Split,
    /// One byte at a time, with lines of server-sent events that end in CRLF.
    CarriageReturns,
}

impl Variant {
    /// Every variant.
    pub const ALL: [Variant; 3] = [Variant::Written, Variant::Split, Variant::CarriageReturns];

    /// The exchanges for the scripted server; `None` when they would be those of another variant.
    pub(super) fn exchanges(self, case: &Case) -> Option<Vec<Value>> {
        let mut any = self == Variant::Written;
        let exchanges = case.tape.exchanges.iter().map(|exchange| {
            let mut answer = exchange.answer.clone();
            any |= self.change(&mut answer);
            Value::Object(answer)
        });
        let exchanges = exchanges.collect();
        any.then_some(exchanges)
    }

    fn change(self, answer: &mut Map<String, Value>) -> bool {
        if !is_stream(answer) {
            return false;
        }
        let is_sse = !answer.contains_key("eventstream");
        match self {
            Variant::Written => return false,
            Variant::Split => {}
            Variant::CarriageReturns if is_sse && !answer.contains_key("newline") => {
                answer.insert("newline".into(), json!("crlf"));
            }
            Variant::CarriageReturns => return false,
        }
        answer.insert("split".into(), json!(1));
        true
    }
}

/// Whether the answer is a successful stream. One that ends with a reset may lose bytes on its way, the more
/// the more pieces it is in.
pub(super) fn is_stream(answer: &Map<String, Value>) -> bool {
    let status = answer.get("status").map_or(Some(200), Value::as_u64);
    let streams = ["sse", "eventstream", "chat", "responses"];
    matches!(status, Some(200..=299))
        && streams.iter().any(|body| answer.contains_key(*body))
        && answer.get("then").and_then(Value::as_str) != Some("reset")
}
