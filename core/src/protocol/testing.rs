//! What tests and fuzzers of decoders share.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use serde_json::Value;

use crate::event::StreamEvent;

/// One line for each event.
#[cfg(test)]
pub(super) fn summary(events: &[StreamEvent]) -> Vec<String> {
    events.iter().map(line).collect()
}

#[cfg(test)]
fn line(event: &StreamEvent) -> String {
    let kind = event.kind();
    match event {
        StreamEvent::MessageStart { id, model } => {
            format!("{kind} {} {model}", id.as_deref().unwrap_or("-"))
        }
        StreamEvent::TextDelta { text } | StreamEvent::ReasoningDelta { text } => {
            format!("{kind} {text}")
        }
        StreamEvent::ToolCallStart { index, id, name } => format!("{kind} {index} {id} {name}"),
        StreamEvent::ToolCallDelta { index, arguments } => format!("{kind} {index} {arguments}"),
        StreamEvent::ToolCallStop { index, tool_use } => {
            let input = Value::Object(tool_use.input.clone());
            format!("{kind} {index} {} {} {input}", tool_use.id, tool_use.name)
        }
        StreamEvent::Usage { usage } => format!(
            "{kind} {} {} {} {} {}",
            usage.input_tokens,
            usage.output_tokens,
            usage.cache_read_tokens,
            usage.cache_write_tokens,
            usage.reasoning_tokens
        ),
        other => format!("{kind} {}", other.data()),
    }
}

/// Asserts what holds for every stream: one start, first; calls start, grow and stop in order, and are what
/// was streamed of them.
#[cfg(test)]
pub(crate) fn check_order(events: &[StreamEvent]) {
    check_sequence(events, true);
}

/// As [`check_order`]; with `exact`, arguments must be what was streamed.
pub(crate) fn check_sequence(events: &[StreamEvent], exact: bool) {
    let mut open: Vec<(u32, String)> = Vec::new();
    let mut stopped: Vec<u32> = Vec::new();
    for (position, event) in events.iter().enumerate() {
        let starts = matches!(event, StreamEvent::MessageStart { .. });
        assert_eq!(starts, position == 0, "{events:?}");
        match event {
            StreamEvent::ToolCallStart { index, id, name } => {
                assert!(!id.is_empty() && !name.is_empty());
                assert!(!open.iter().any(|(known, _)| known == index), "{events:?}");
                open.push((*index, String::new()));
            }
            StreamEvent::ToolCallDelta { index, arguments } => {
                assert!(
                    !arguments.is_empty() && !stopped.contains(index),
                    "{events:?}"
                );
                let call = open.iter_mut().find(|(known, _)| known == index);
                call.unwrap().1.push_str(arguments);
            }
            StreamEvent::ToolCallStop { index, tool_use } => {
                let (_, text) = open.iter().find(|(known, _)| known == index).unwrap();
                // Some services never send arguments in pieces.
                if exact && !text.is_empty() {
                    let text = if text.trim().is_empty() { "{}" } else { text };
                    // As lenient as the engine, for which every kind of space around them counts as none.
                    let streamed: Value = serde_json::from_str(text.trim()).unwrap();
                    assert_eq!(streamed, Value::Object(tool_use.input.clone()));
                }
                assert!(!stopped.contains(index), "{events:?}");
                stopped.push(*index);
            }
            _ => {}
        }
    }
}
