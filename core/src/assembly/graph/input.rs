//! What a node is asked when no mapper says it.

use serde_json::Value;

use super::GraphState;
use crate::message::{Content, Message, Role};

/// The request itself at the start; further on also what the predecessors came to.
pub(super) fn default_input(state: &GraphState) -> Message {
    if state.incoming.is_empty() {
        return state.input.clone();
    }
    let mut content = vec![Content::text("Original Task:\n")];
    content.extend(state.input.content.iter().cloned());
    content.push(Content::text("\n\nInputs from previous nodes:\n"));
    for name in &state.incoming {
        let said = match (state.results.get(name), &state.error) {
            (_, Some(error)) => format!("It failed with {}.", error.class_name()),
            (Some(result), None) => match result.output() {
                Value::String(text) => text,
                other => other.to_string(),
            },
            (None, None) => String::new(),
        };
        content.push(Content::text(format!("\nFrom {name}:\n{said}\n")));
    }
    let mut message = Message::new(Role::User, content);
    message.metadata = state.input.metadata.clone();
    message
}
