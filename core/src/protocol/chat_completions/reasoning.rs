//! Reasoning of Chat Completions services: read, merged, sent back.

use serde_json::{Map, Value, json};

use crate::message::{Content, Reasoning};

/// Reasoning of one answer in the making.
#[derive(Debug, Default)]
pub(super) struct ReasoningParts {
    text: String,
    details: Vec<Value>,
}

impl ReasoningParts {
    pub(super) fn push_text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds a streamed detail. Neighbours with equal `type` and `index` are pieces of one.
    pub(super) fn push_detail(&mut self, detail: Map<String, Value>) {
        if let Some(Value::Object(last)) = self.details.last_mut()
            && last.get("type") == detail.get("type")
            && last.get("index") == detail.get("index")
        {
            merge(last, detail);
        } else {
            self.details.push(Value::Object(detail));
        }
    }

    /// The finished block; `None` when the model did not show any reasoning.
    pub(super) fn take(&mut self) -> Option<Content> {
        if self.text.is_empty() && self.details.is_empty() {
            return None;
        }
        let details = std::mem::take(&mut self.details);
        Some(Content::Reasoning(Reasoning {
            text: std::mem::take(&mut self.text),
            details: Some(details).filter(|details| !details.is_empty()),
            ..Reasoning::default()
        }))
    }
}

fn merge(whole: &mut Map<String, Value>, piece: Map<String, Value>) {
    for (key, value) in piece {
        let grows = matches!(key.as_str(), "text" | "summary" | "data");
        match (whole.get_mut(&key), value) {
            (Some(Value::String(text)), Value::String(more)) if grows => text.push_str(&more),
            // A later null is "nothing new": it must not erase a signature.
            (Some(_), Value::Null) => {}
            (_, value) => {
                whole.insert(key, value);
            }
        }
    }
}

/// Adds `reasoning` and `reasoning_details` of an earlier answer to its history entry.
pub(super) fn replay(content: &[Content], entry: &mut Map<String, Value>) {
    let mut text = String::new();
    let mut details = Vec::new();
    for block in content {
        if let Content::Reasoning(reasoning) = block {
            text.push_str(&reasoning.text);
            details.extend(reasoning.details.iter().flatten().cloned());
        }
    }
    if !text.is_empty() {
        entry.insert("reasoning".into(), json!(text));
    }
    if !details.is_empty() {
        entry.insert("reasoning_details".into(), Value::Array(details));
    }
}

/// Adds `reasoning_content` of an earlier answer to its history entry.
pub(super) fn echo(content: &[Content], entry: &mut Map<String, Value>) {
    let text: String = content
        .iter()
        .filter_map(|block| match block {
            Content::Reasoning(reasoning) => Some(reasoning.text.as_str()),
            _ => None,
        })
        .collect();
    if !text.is_empty() {
        entry.insert("reasoning_content".into(), json!(text));
    }
}
