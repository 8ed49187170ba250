//! What consumers see of an attempt at the result: that there was one, not what it says.

use std::sync::Arc;

use serde_json::Map;

use crate::event::StreamEvent;
use crate::message::{Message, ToolUse};
use crate::model::ModelResponse;

/// The text that stands for a result.
pub(super) fn placeholder(name: &str) -> String {
    format!("[structured result {name:?} redacted]")
}

/// `response` with a placeholder for its message.
pub(crate) fn redacted_response(name: &str, response: &ModelResponse) -> Arc<ModelResponse> {
    Arc::new(ModelResponse {
        message: Message::assistant(placeholder(name)),
        ..response.clone()
    })
}

/// `events` of one response without what the model said in it.
pub(crate) fn redacted_events(events: Vec<StreamEvent>) -> Vec<StreamEvent> {
    events.into_iter().filter_map(redacted).collect()
}

fn redacted(event: StreamEvent) -> Option<StreamEvent> {
    match event {
        StreamEvent::TextDelta { .. }
        | StreamEvent::ReasoningDelta { .. }
        | StreamEvent::ToolCallDelta { .. } => None,
        StreamEvent::ToolCallStop { index, tool_use } => Some(StreamEvent::ToolCallStop {
            index,
            tool_use: Arc::new(emptied(&tool_use)),
        }),
        other => Some(other),
    }
}

/// The call without its arguments.
pub(super) fn emptied(tool_use: &ToolUse) -> ToolUse {
    ToolUse {
        input: Map::new(),
        ..tool_use.clone()
    }
}
