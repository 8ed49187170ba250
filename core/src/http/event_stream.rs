//! Event streams of AWS: binary frames with checksums, decoded incrementally.
//!
//! A frame is its length, the length of its headers and a checksum of both (four bytes each, big
//! endian), the headers, the payload, and a checksum of all that.

use super::crc32::crc32;
use super::event_stream_headers::{Headers, read_headers};
use super::failure::shorten;
use super::sse::Frame;
use crate::error::{Error, ErrorKind, Result, Retry};

/// Bytes before the headers.
const PRELUDE: usize = 12;
/// Bytes of a frame without headers and payload.
const OVERHEAD: usize = PRELUDE + 4;
/// The most bytes of headers in one frame, as the format has it.
const MAX_HEADERS: usize = 128 * 1_024;

/// Turns bytes, however they are split, into frames.
///
/// A frame's event is its `:event-type` or `:exception-type`. A failure that has no type of its own
/// is given the event of its `:error-code`, made to end in `Exception`, and JSON with its message.
#[derive(Debug)]
pub(crate) struct EventStreamDecoder {
    /// The beginning of a frame whose end has not arrived.
    partial: Vec<u8>,
    max_frame: usize,
}

impl EventStreamDecoder {
    /// A decoder that refuses frames of more than `max_frame` bytes.
    pub(crate) fn new(max_frame: usize) -> Self {
        Self {
            partial: Vec::new(),
            max_frame,
        }
    }

    /// Takes bytes and hands every frame they complete to `sink`.
    ///
    /// # Errors
    /// [`ErrorKind::Protocol`] for bytes that are no frames, a wrong checksum or too large a frame,
    /// and whatever `sink` returns.
    pub(crate) fn feed<F>(&mut self, chunk: &[u8], mut sink: F) -> Result<()>
    where
        F: FnMut(Frame<'_>) -> Result<()>,
    {
        let mut rest = chunk;
        while !rest.is_empty() {
            if self.partial.is_empty() {
                match self.length(rest)? {
                    // The whole frame lies in what was just read: nothing is copied.
                    Some(length) if length <= rest.len() => {
                        let (frame, tail) = rest.split_at(length);
                        dispatch(frame, &mut sink)?;
                        rest = tail;
                        continue;
                    }
                    _ => {}
                }
            }
            let wanted = self.length(&self.partial)?.unwrap_or(PRELUDE);
            let missing = wanted.saturating_sub(self.partial.len());
            let (part, tail) = rest.split_at(missing.min(rest.len()));
            self.partial.extend_from_slice(part);
            rest = tail;
            if self.length(&self.partial)? == Some(self.partial.len()) {
                let frame = std::mem::take(&mut self.partial);
                dispatch(&frame, &mut sink)?;
                self.partial = frame;
                self.partial.clear();
            }
        }
        Ok(())
    }

    /// Takes the end of the bytes.
    ///
    /// # Errors
    /// [`ErrorKind::Protocol`] when they end within a frame.
    pub(crate) fn finish(&mut self) -> Result<()> {
        if self.partial.is_empty() {
            return Ok(());
        }
        let message = match self.length(&self.partial)? {
            Some(length) => format!(
                "the event stream ended after {} of the {length} bytes of a frame",
                self.partial.len()
            ),
            None => "the event stream ended in the head of a frame".to_owned(),
        };
        Err(Error::new(ErrorKind::Protocol, message).with_retry(Retry::Backoff))
    }

    /// The length of the frame that begins with `bytes`, once they tell.
    fn length(&self, bytes: &[u8]) -> Result<Option<usize>> {
        let Some((prelude, _)) = bytes.split_at_checked(PRELUDE) else {
            return Ok(None);
        };
        let (covered, checksum) = prelude.split_at(PRELUDE - 4);
        // Lengths that nothing vouches for are not worth a look: this may be a page of text.
        if number(checksum, 0) != Some(crc32(covered)) {
            return Err(protocol(format!(
                "the answer is not an AWS event stream, or was damaged: the checksum of a frame's \
                 head is wrong; check where requests go: it begins with {:?}",
                // What came behind it differs with the network's pieces.
                shorten(&String::from_utf8_lossy(prelude), PRELUDE)
            )));
        }
        let part = |at| number(covered, at).and_then(|part| usize::try_from(part).ok());
        let (length, headers) = (part(0).unwrap_or(0), part(4).unwrap_or(0));
        if length < OVERHEAD || headers > length - OVERHEAD {
            return Err(protocol(format!(
                "a frame of the event stream has impossible lengths: {length} bytes with {headers} \
                 bytes of headers"
            )));
        }
        if length > self.max_frame {
            return Err(protocol(format!(
                "the provider sent one event of {length} bytes, more than {} (max_frame_bytes)",
                self.max_frame
            )));
        }
        if headers > MAX_HEADERS {
            return Err(protocol(format!(
                "a frame of the event stream has {headers} bytes of headers, more than {MAX_HEADERS}"
            )));
        }
        Ok(Some(length))
    }
}

/// Checks one whole frame, whose prelude was checked before, and hands it over.
fn dispatch<F>(frame: &[u8], sink: &mut F) -> Result<()>
where
    F: FnMut(Frame<'_>) -> Result<()>,
{
    let (covered, checksum) = frame
        .split_at_checked(frame.len().saturating_sub(4))
        .unwrap_or_default();
    if number(checksum, 0) != Some(crc32(covered)) {
        return Err(protocol(
            "a frame of the event stream was damaged: its checksum is wrong".into(),
        ));
    }
    let body = covered.get(PRELUDE..).unwrap_or_default();
    let length = number(frame, 4).and_then(|length| usize::try_from(length).ok());
    let (headers, payload) = body
        .split_at_checked(length.unwrap_or_default())
        .unwrap_or_default();
    let headers = read_headers(headers).map_err(|problem| {
        protocol(format!(
            "a frame of the event stream has a header that {problem}"
        ))
    })?;
    match headers {
        Headers { kind: "error", .. } => {
            let mut event = headers.error_code.to_owned();
            if !event.ends_with("Exception") {
                event.push_str("Exception");
            }
            let message = serde_json::json!({"message": headers.error_message}).to_string();
            sink(Frame {
                event: event.as_bytes(),
                data: message.as_bytes(),
            })
        }
        Headers {
            kind: "exception", ..
        } => sink(Frame {
            event: headers.exception_type.as_bytes(),
            data: payload,
        }),
        _ => sink(Frame {
            event: headers.event_type.as_bytes(),
            data: payload,
        }),
    }
}

/// The four bytes at `at`, big endian.
fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_be_bytes(*bytes))
}

fn protocol(message: String) -> Error {
    Error::new(ErrorKind::Protocol, message)
}

#[cfg(test)]
#[path = "event_stream_tests.rs"]
mod tests;
