//! Frames of an AWS event stream: what a test writes, and the bytes it stands for.

use serde_json::{Map, Value};

use crate::frames::Frame;

/// Reads one entry of `eventstream`.
pub(crate) fn parse(value: Value) -> Result<Frame, String> {
    let Value::Object(object) = &value else {
        return Err(unknown(&value));
    };
    let keys: Vec<&str> = object.keys().map(String::as_str).collect();
    let lone = keys.len() == 1;
    match keys.first() {
        Some(&("bytes" | "delay_ms" | "wait_for")) if lone => Frame::parse(value),
        Some(&"repeat") if lone => repeat(object),
        _ => message(object).ok_or_else(|| unknown(&value)),
    }
}

fn repeat(object: &Map<String, Value>) -> Result<Frame, String> {
    let frame = object.get("repeat").and_then(|repeat| repeat.get("frame"));
    let count = object
        .get("repeat")
        .and_then(|repeat| repeat.get("count")?.as_u64())
        .and_then(|count| usize::try_from(count).ok());
    let (Some(frame), Some(count)) = (frame, count) else {
        return Err("repeat takes a frame and a count".to_owned());
    };
    match parse(frame.clone())? {
        frame @ Frame::Raw(_) => Ok(Frame::Repeat {
            frame: Box::new(frame),
            count,
        }),
        _ => Err("repeat takes a frame that has bytes of its own".to_owned()),
    }
}

/// An event, an exception or an error, as the service sends it.
fn message(object: &Map<String, Value>) -> Option<Frame> {
    let text = |name: &str| object.get(name).and_then(Value::as_str);
    let has_only = |names: &[&str]| object.keys().all(|key| names.contains(&key.as_str()));
    if let (Some(code), true) = (text("error"), has_only(&["error", "message"])) {
        let headers = [
            (":message-type", "error"),
            (":error-code", code),
            (":error-message", text("message").unwrap_or_default()),
        ];
        return frame(&headers, b"");
    }
    let payload = match object.get("data") {
        None => b"{}".to_vec(),
        Some(Value::String(text)) => text.clone().into_bytes(),
        Some(json) => json.to_string().into_bytes(),
    };
    let json = (":content-type", "application/json");
    if let (Some(kind), true) = (text("event"), has_only(&["event", "data"])) {
        let headers = [(":event-type", kind), json, (":message-type", "event")];
        return frame(&headers, &payload);
    }
    if let (Some(kind), true) = (text("exception"), has_only(&["exception", "data"])) {
        let headers = [
            (":exception-type", kind),
            json,
            (":message-type", "exception"),
        ];
        return frame(&headers, &payload);
    }
    None
}

/// A frame with text headers; `None` when something is longer than the format has room for.
fn frame(headers: &[(&str, &str)], payload: &[u8]) -> Option<Frame> {
    let mut block = Vec::new();
    for (name, value) in headers {
        block.push(u8::try_from(name.len()).ok()?);
        block.extend_from_slice(name.as_bytes());
        block.push(7);
        block.extend_from_slice(&u16::try_from(value.len()).ok()?.to_be_bytes());
        block.extend_from_slice(value.as_bytes());
    }
    let length = u32::try_from(16 + block.len() + payload.len()).ok()?;
    let mut bytes = length.to_be_bytes().to_vec();
    bytes.extend_from_slice(&u32::try_from(block.len()).ok()?.to_be_bytes());
    bytes.extend_from_slice(&crc32(&bytes).to_be_bytes());
    bytes.extend_from_slice(&block);
    bytes.extend_from_slice(payload);
    bytes.extend_from_slice(&crc32(&bytes).to_be_bytes());
    Some(Frame::Raw(bytes))
}

/// CRC-32 as in zip files, a bit at a time: simple, and apart from the engine's own.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xEDB8_8320 & 0_u32.wrapping_sub(crc & 1))
        })
    })
}

fn unknown(value: &Value) -> String {
    format!(
        "an entry of eventstream is {{\"event\", \"data\"}}, {{\"exception\", \"data\"}}, \
         {{\"error\", \"message\"}}, bytes, repeat, delay_ms or wait_for, not {value}"
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::frames::Style;

    #[test]
    fn a_frame_is_that_of_the_format() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        // The format's published example of a frame with neither headers nor payload.
        let Some(empty) = frame(&[], b"") else {
            panic!("it has room");
        };
        assert_eq!(
            empty.render(Style::default()),
            [
                0, 0, 0, 16, 0, 0, 0, 0, 5, 0xc2, 0x48, 0xeb, 0x7d, 0x98, 0xc8, 0xff
            ]
        );
    }

    #[test]
    fn entries_that_mean_nothing_are_refused() {
        for entry in [
            json!("text"),
            json!({"data": {}}),
            json!({"event": "x", "dat": 1}),
            json!({"event": 1}),
            json!({"repeat": {"frame": {"delay_ms": 1}, "count": 2}}),
            json!({"raw": "text"}),
        ] {
            assert!(parse(entry.clone()).is_err(), "{entry}");
        }
    }
}
