//! Streams of server-sent events, taken apart and put together.

use serde_json::Value;

/// One frame: lines before its data, and the data.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    head: String,
    pub(crate) data: Result<Value, String>,
}

/// The frames of a stream with simple line ends; `None` for other bytes.
pub(crate) fn parse(input: &[u8]) -> Option<Vec<Event>> {
    let text = std::str::from_utf8(input).ok()?;
    text.contains("data:").then_some(())?;
    let frames = text.split("\n\n").filter(|frame| !frame.is_empty());
    Some(frames.map(event).collect())
}

fn event(frame: &str) -> Event {
    let (head, data): (Vec<&str>, Vec<&str>) = frame
        .split('\n')
        .partition(|line| !line.starts_with("data:"));
    let data: Vec<&str> = data.iter().map(|line| line[5..].trim_start()).collect();
    let text = data.join("\n");
    Event {
        head: head.iter().map(|line| format!("{line}\n")).collect(),
        data: serde_json::from_str(&text).map_err(|_| text),
    }
}

/// The bytes of `events`.
pub(crate) fn render(events: &[Event], newline: &str) -> Vec<u8> {
    let mut text = String::new();
    for event in events {
        text.push_str(&event.head);
        let data = match &event.data {
            Ok(value) => value.to_string(),
            Err(text) => text.clone(),
        };
        for line in data.split('\n') {
            text.push_str(&format!("data: {line}\n"));
        }
        text.push('\n');
    }
    text.replace('\n', newline).into_bytes()
}
