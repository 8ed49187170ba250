//! Where a listing goes on, as an opaque text.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::error::{Error, Result};

/// Characters of a cursor.
const MAX_LENGTH: usize = 512;
/// Characters of a path that is surely short enough to be written whole.
const MAX_PATH_LENGTH: usize = 300;

/// The last entry of a page: when it was last changed, and its path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cursor {
    pub(super) updated_at: String,
    pub(super) id: String,
}

impl Cursor {
    /// The text for the model. A path that is too long for it is cut at its front, where it differs least.
    pub(super) fn encode(&self) -> String {
        let start = self.id.len().saturating_sub(MAX_PATH_LENGTH);
        let id = self.id.get(start..).unwrap_or(&self.id);
        URL_SAFE_NO_PAD.encode(json!([self.updated_at, id]).to_string())
    }

    /// # Errors
    /// [`ErrorKind::Tool`](crate::ErrorKind::Tool) for anything that no listing gave.
    pub(super) fn decode(text: &str) -> Result<Self> {
        let value: Option<Value> = (text.len() <= MAX_LENGTH)
            .then(|| URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok())
            .flatten()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok());
        match value.as_ref().and_then(Value::as_array).map(Vec::as_slice) {
            Some([Value::String(updated_at), Value::String(id)]) => Ok(Self {
                updated_at: updated_at.clone(),
                id: id.clone(),
            }),
            _ => Err(Error::tool(
                "the cursor is not usable; pass next_cursor of the page before unchanged, or none",
            )),
        }
    }

    /// Whether an entry with these comes on a later page, newest first.
    pub(super) fn precedes(&self, updated_at: &str, id: &str) -> bool {
        let start = id.len().saturating_sub(MAX_PATH_LENGTH);
        let id = id.get(start..).unwrap_or(id);
        (updated_at, id) < (self.updated_at.as_str(), self.id.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_back_and_nothing_else_is() {
        let cursor = Cursor {
            updated_at: "2026-01-02T03:04:05.000006Z".into(),
            id: format!("/root/{}", "a".repeat(1_000)),
        };
        let text = cursor.encode();
        assert!(text.len() <= MAX_LENGTH);
        assert_eq!(Cursor::decode(&text).unwrap().updated_at, cursor.updated_at);
        for bad in ["", "x", "W10", "WzEsMl0", &"A".repeat(600)] {
            assert!(Cursor::decode(bad).is_err(), "{bad}");
        }
        let short = Cursor {
            updated_at: "2".into(),
            id: "/root/b".into(),
        };
        assert_eq!(Cursor::decode(&short.encode()).unwrap(), short);
        assert!(short.precedes("1", "/root/z") && short.precedes("2", "/root/a"));
        assert!(!short.precedes("2", "/root/b") && !short.precedes("3", "/root/a"));
    }
}
