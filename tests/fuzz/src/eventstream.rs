//! Binary event streams, taken apart and put together with checksums that fit.

use serde_json::Value;

/// One frame: its headers as they are, and its payload.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    headers: Vec<u8>,
    pub(crate) payload: Result<Value, Vec<u8>>,
}

/// Lengths of the whole and of the headers, and their checksum.
const PRELUDE: usize = 12;

/// The frames of a stream; `None` for other bytes.
pub(crate) fn parse(mut input: &[u8]) -> Option<Vec<Event>> {
    let mut events = Vec::new();
    while !input.is_empty() {
        let number = |at: usize| {
            let bytes = input.get(at..at + 4)?.try_into().ok()?;
            usize::try_from(u32::from_be_bytes(bytes)).ok()
        };
        let (total, headers) = (number(0)?, number(4)?);
        let frame = input.get(..total)?;
        let payload = frame.get(PRELUDE + headers..total.checked_sub(4)?)?;
        events.push(Event {
            headers: frame[PRELUDE..PRELUDE + headers].to_vec(),
            payload: serde_json::from_slice(payload).map_err(|_| payload.to_vec()),
        });
        input = &input[total..];
    }
    (!events.is_empty()).then_some(events)
}

/// The bytes of `events`.
pub(crate) fn render(events: &[Event]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for event in events {
        let payload = match &event.payload {
            Ok(value) => value.to_string().into_bytes(),
            Err(bytes) => bytes.clone(),
        };
        let total = PRELUDE + event.headers.len() + payload.len() + 4;
        let begin = bytes.len();
        bytes.extend_from_slice(&u32::try_from(total).unwrap().to_be_bytes());
        let headers = u32::try_from(event.headers.len()).unwrap();
        bytes.extend_from_slice(&headers.to_be_bytes());
        let check = crc32fast::hash(&bytes[begin..]);
        bytes.extend_from_slice(&check.to_be_bytes());
        bytes.extend_from_slice(&event.headers);
        bytes.extend_from_slice(&payload);
        let check = crc32fast::hash(&bytes[begin..]);
        bytes.extend_from_slice(&check.to_be_bytes());
    }
    bytes
}
