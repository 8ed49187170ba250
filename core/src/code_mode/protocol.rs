//! Frames between the engine and a program: four bytes of length, the highest first, then that much JSON.

use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};

/// The longest JSON of one frame, in bytes.
pub const MAX_FRAME_BYTES: usize = 64 * 1024 * 1024;

const HEADER_BYTES: usize = 4;

/// One frame that holds `value`.
///
/// # Errors
/// [`ErrorKind::Protocol`] when its JSON is longer than [`MAX_FRAME_BYTES`].
pub fn dump(value: &Value) -> Result<Vec<u8>> {
    let mut frame = vec![0; HEADER_BYTES];
    serde_json::to_writer(&mut frame, value)
        .map_err(|problem| broken(format!("a value cannot be sent: {problem}")))?;
    let length = frame.len() - HEADER_BYTES;
    if length > MAX_FRAME_BYTES {
        return Err(too_long(length));
    }
    let header = u32::try_from(length)
        .map_err(|_| too_long(length))?
        .to_be_bytes();
    for (place, byte) in frame.iter_mut().zip(header) {
        *place = byte;
    }
    Ok(frame)
}

/// The first frame of `bytes` and how many bytes it takes, or nothing while bytes are missing.
///
/// # Errors
/// [`ErrorKind::Protocol`] for a frame that says that it is longer than [`MAX_FRAME_BYTES`], before any
/// of it is stored, and for one that is not JSON.
pub fn extract(bytes: &[u8]) -> Result<Option<(Value, usize)>> {
    let Some((header, rest)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
        return Ok(None);
    };
    let length = u32::from_be_bytes(*header) as usize;
    if length > MAX_FRAME_BYTES {
        return Err(too_long(length));
    }
    let Some(payload) = rest.get(..length) else {
        return Ok(None);
    };
    let value = serde_json::from_slice(payload)
        .map_err(|problem| broken(format!("a frame is not JSON: {problem}")))?;
    Ok(Some((value, HEADER_BYTES + length)))
}

fn too_long(length: usize) -> Error {
    broken(format!(
        "a frame of {length} bytes is longer than {MAX_FRAME_BYTES}"
    ))
}

fn broken(problem: String) -> Error {
    Error::new(ErrorKind::Protocol, problem)
}

/// Bytes that arrived and were not read as frames yet.
#[derive(Debug, Default)]
pub(crate) struct FrameBuffer {
    bytes: Vec<u8>,
    read: usize,
}

impl FrameBuffer {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        // What was read makes room once it is most of the buffer, so that each byte moves at most once.
        if self.read > self.bytes.len() / 2 {
            self.bytes.drain(..self.read);
            self.read = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next complete frame.
    ///
    /// # Errors
    /// As [`extract`].
    pub(crate) fn next(&mut self) -> Result<Option<Value>> {
        let rest = self.bytes.get(self.read..).unwrap_or_default();
        Ok(extract(rest)?.map(|(value, length)| {
            self.read += length;
            value
        }))
    }

    /// Whether a frame was begun and not ended.
    pub(crate) fn is_cut(&self) -> bool {
        self.read < self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn frames_survive_being_cut_anywhere() {
        let values = [
            json!({"type": "text", "value": "é".repeat(70)}),
            json!(null),
            json!([1, 2.5, "x"]),
        ];
        let stream: Vec<u8> = values
            .iter()
            .flat_map(|value| dump(value).unwrap())
            .collect();
        for size in 1..stream.len() {
            let mut buffer = FrameBuffer::default();
            let mut found = Vec::new();
            for piece in stream.chunks(size) {
                buffer.push(piece);
                while let Some(value) = buffer.next().unwrap() {
                    found.push(value);
                }
            }
            assert_eq!(found, values, "pieces of {size} bytes");
            assert!(!buffer.is_cut());
        }
    }

    #[test]
    fn a_length_over_the_limit_is_refused_before_its_bytes_arrive() {
        let header = (MAX_FRAME_BYTES as u32 + 1).to_be_bytes();
        assert!(extract(&header).unwrap_err().is(ErrorKind::Protocol));
        let most = (MAX_FRAME_BYTES as u32).to_be_bytes();
        assert!(extract(&most).unwrap().is_none());
        assert!(
            dump(&json!("x".repeat(MAX_FRAME_BYTES)))
                .unwrap_err()
                .is(ErrorKind::Protocol)
        );
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for payload in [&b"{"[..], b"\xff\xfe", b"", b"{} {}"] {
            let mut frame = (payload.len() as u32).to_be_bytes().to_vec();
            frame.extend_from_slice(payload);
            assert!(
                extract(&frame).unwrap_err().is(ErrorKind::Protocol),
                "{payload:?}"
            );
        }
        let deep = "[".repeat(100_000);
        let mut frame = (deep.len() as u32).to_be_bytes().to_vec();
        frame.extend_from_slice(deep.as_bytes());
        assert!(extract(&frame).is_err());
    }
}
