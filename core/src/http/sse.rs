//! Server-sent events, decoded incrementally.

use memchr::memchr2;

use super::bare_json::BareJson;
use crate::error::{Error, ErrorKind, Result};

/// One dispatched event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    /// The `event` field; empty when there was none.
    pub(crate) event: &'a [u8],
    /// The `data` lines, joined by line feeds.
    pub(crate) data: &'a [u8],
}

/// Turns bytes, however they are split, into frames.
///
/// Lines end in LF, CRLF or CR; a leading byte order mark, comments and unknown fields are
/// skipped. Only those three bytes end a line: U+2028 in data is data. The data of a frame whose
/// only data line lies in one network read is not copied. A JSON object between the events, with
/// which some services report failures, is a frame too.
#[derive(Debug)]
pub(crate) struct SseDecoder {
    /// The beginning of a line whose end has not arrived.
    line: Vec<u8>,
    /// Data lines of the frame in progress that had to be kept.
    data: Vec<u8>,
    has_data: bool,
    event: Vec<u8>,
    bare: BareJson,
    /// The last line ended in CR: a line feed that follows belongs to it.
    after_cr: bool,
    first_line: bool,
    max_frame: usize,
}

impl SseDecoder {
    /// A decoder that refuses frames of more than `max_frame` bytes.
    pub(crate) fn new(max_frame: usize) -> Self {
        Self {
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            event: Vec::new(),
            bare: BareJson::default(),
            after_cr: false,
            first_line: true,
            max_frame,
        }
    }

    /// Takes bytes and hands every frame they complete to `sink`.
    ///
    /// # Errors
    /// [`ErrorKind::Protocol`] for a frame over the limit, and whatever `sink` returns.
    pub(crate) fn feed<F>(&mut self, chunk: &[u8], mut sink: F) -> Result<()>
    where
        F: FnMut(Frame<'_>) -> Result<()>,
    {
        let mut rest = chunk;
        // The only data line of the frame in progress, still in `chunk`.
        let mut pending: Option<&[u8]> = None;
        loop {
            if self.after_cr
                && let Some((first, tail)) = rest.split_first()
            {
                self.after_cr = false;
                if *first == b'\n' {
                    rest = tail;
                }
            }
            let Some(end) = memchr2(b'\n', b'\r', rest) else {
                break;
            };
            let (line, tail) = rest.split_at(end);
            let Some((terminator, tail)) = tail.split_first() else {
                break;
            };
            self.after_cr = *terminator == b'\r';
            rest = tail;
            if self.line.is_empty() {
                self.take_line(line, &mut pending, &mut sink)?;
            } else {
                self.line.extend_from_slice(line);
                let whole = std::mem::take(&mut self.line);
                self.keep(&mut pending);
                let mut owned = None;
                let taken = self.take_line(&whole, &mut owned, &mut sink);
                self.keep(&mut owned);
                self.line = whole;
                self.line.clear();
                taken?;
            }
        }
        self.keep(&mut pending);
        self.line.extend_from_slice(rest);
        self.check_size()
    }

    /// Hands over the last frame, which need not end in a blank line.
    ///
    /// # Errors
    /// Whatever `sink` returns.
    pub(crate) fn finish<F>(&mut self, mut sink: F) -> Result<()>
    where
        F: FnMut(Frame<'_>) -> Result<()>,
    {
        self.after_cr = false;
        if !self.line.is_empty() {
            self.feed(b"\n", &mut sink)?;
        }
        self.feed(b"\n", sink)
    }

    fn take_line<'c, F>(
        &mut self,
        mut line: &'c [u8],
        pending: &mut Option<&'c [u8]>,
        sink: &mut F,
    ) -> Result<()>
    where
        F: FnMut(Frame<'_>) -> Result<()>,
    {
        if self.first_line {
            self.first_line = false;
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if self.bare.takes(line) {
            return self.take_bare(line, pending, sink);
        }
        if line.is_empty() {
            return self.dispatch(pending.take(), sink);
        }
        if let Some(value) = field(line, b"data") {
            if pending.is_none() && !self.has_data {
                *pending = Some(value);
            } else {
                self.keep(pending);
                self.data.push(b'\n');
                self.data.extend_from_slice(value);
                self.check_size()?;
            }
        } else if let Some(value) = field(line, b"event") {
            self.event.clear();
            self.event.extend_from_slice(value);
        }
        Ok(())
    }

    fn take_bare<F>(&mut self, line: &[u8], pending: &mut Option<&[u8]>, sink: &mut F) -> Result<()>
    where
        F: FnMut(Frame<'_>) -> Result<()>,
    {
        // It ends whatever event came before it.
        self.dispatch(pending.take(), sink)?;
        if self.bare.push(line) {
            let data = self.bare.take();
            return sink(Frame {
                event: b"",
                data: data.trim_ascii(),
            });
        }
        self.check_size()
    }

    fn dispatch<F>(&mut self, pending: Option<&[u8]>, sink: &mut F) -> Result<()>
    where
        F: FnMut(Frame<'_>) -> Result<()>,
    {
        let taken = match pending {
            Some(data) if data.len() > self.max_frame => Err(self.too_large()),
            Some(data) => sink(Frame {
                event: &self.event,
                data,
            }),
            None if self.has_data => sink(Frame {
                event: &self.event,
                data: &self.data,
            }),
            None => Ok(()),
        };
        self.event.clear();
        self.data.clear();
        self.has_data = false;
        taken
    }

    /// Copies a data line that outlives the bytes it lies in.
    fn keep(&mut self, pending: &mut Option<&[u8]>) {
        if let Some(line) = pending.take() {
            self.data.extend_from_slice(line);
            self.has_data = true;
        }
    }

    fn check_size(&self) -> Result<()> {
        if self
            .data
            .len()
            .saturating_add(self.line.len())
            .saturating_add(self.bare.len())
            > self.max_frame
        {
            return Err(self.too_large());
        }
        Ok(())
    }

    fn too_large(&self) -> Error {
        Error::new(
            ErrorKind::Protocol,
            format!(
                "the provider sent one event of more than {} bytes",
                self.max_frame
            ),
        )
    }
}

/// The value of `line` if it is the field `name`: after the colon and one optional space.
fn field<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    match line.strip_prefix(name)? {
        [] => Some(&[]),
        [b':', b' ', value @ ..] | [b':', value @ ..] => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Frames = Vec<(String, String)>;

    fn decode(chunks: &[&[u8]]) -> Result<Frames> {
        let mut frames = Frames::new();
        let mut decoder = SseDecoder::new(1_000);
        let mut sink = |frame: Frame<'_>| {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            frames.push((text(frame.event), text(frame.data)));
            Ok(())
        };
        for chunk in chunks {
            decoder.feed(chunk, &mut sink)?;
        }
        decoder.finish(&mut sink)?;
        Ok(frames)
    }

    const STREAM: &str = "\u{feff}: hello\n\ndata: one\n\nevent: e2\nid: 7\nretry: 10\n\
        data:two\ndata: lines \u{2028} here\n\n:ping\ndata\n\nevent: lost\n\nunknown: x\n\
        database: no\ndata:  spaced\n\n\n\ndata: {\"a\":\"b: c\"}";

    fn expected() -> Frames {
        [
            ("", "one"),
            ("e2", "two\nlines \u{2028} here"),
            ("", ""),
            ("", " spaced"),
            ("", "{\"a\":\"b: c\"}"),
        ]
        .map(|(event, data)| (event.to_owned(), data.to_owned()))
        .to_vec()
    }

    #[test]
    fn every_newline_and_every_split_gives_the_same_frames() {
        for newline in ["\n", "\r\n", "\r"] {
            for ending in ["", newline, &newline.repeat(2)] {
                let bytes = format!("{}{ending}", STREAM.replace('\n', newline)).into_bytes();
                assert_eq!(decode(&[&bytes]).unwrap(), expected(), "{newline:?} whole");
                for at in 0..=bytes.len() {
                    let (head, tail) = bytes.split_at(at);
                    assert_eq!(
                        decode(&[head, tail]).unwrap(),
                        expected(),
                        "{newline:?} {at}"
                    );
                }
                for size in 1..7 {
                    let chunks: Vec<&[u8]> = bytes.chunks(size).collect();
                    assert_eq!(
                        decode(&chunks).unwrap(),
                        expected(),
                        "{newline:?} by {size}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_frame_is_delivered_as_soon_as_its_blank_line_is_there() {
        for newline in ["\n", "\r\n", "\r"] {
            let mut decoder = SseDecoder::new(1_000);
            let mut seen = 0;
            let bytes = format!("data: x{newline}{newline}");
            decoder
                .feed(bytes.as_bytes(), |_| {
                    seen += 1;
                    Ok(())
                })
                .unwrap();
            assert_eq!(seen, 1, "{newline:?}");
        }
    }

    #[test]
    fn one_frame_is_bounded_but_a_stream_is_not() {
        let frame = format!("data: {}\n\n", "x".repeat(900)).into_bytes();
        let many = frame.repeat(50);
        assert_eq!(decode(&[&many]).unwrap().len(), 50);
        let whole = format!("data: {}\n\n", "x".repeat(1_001)).into_bytes();
        let endless = "x".repeat(1_001).into_bytes();
        let lines = "data: yyyyyyyy\n".repeat(200).into_bytes();
        for bytes in [whole, endless, lines] {
            for size in [1, 7, bytes.len()] {
                let chunks: Vec<&[u8]> = bytes.chunks(size).collect();
                let error = decode(&chunks).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Protocol);
                assert!(error.message().contains("1000 bytes"));
            }
        }
    }

    #[test]
    fn an_error_of_the_sink_stops_the_feed() {
        let mut decoder = SseDecoder::new(1_000);
        let mut seen = 0;
        let fed = decoder.feed(b"data: 1\n\ndata: 2\n\n", |_| {
            seen += 1;
            Err(Error::new(ErrorKind::Protocol, "no"))
        });
        assert!(fed.is_err());
        assert_eq!(seen, 1);
    }

    #[test]
    fn json_between_the_events_is_a_frame() {
        let stream = "data: one\n\n{\n  \"error\": {\n    \"message\": \"a \\\"}\\\" {\"\n  }\n}\n\
            data: two\ndata: lines\n{\"x\": 1}\n\ndata: three\n\n{\"cut\": ";
        let expected = [
            "one",
            "{\n  \"error\": {\n    \"message\": \"a \\\"}\\\" {\"\n  }\n}",
            "two\nlines",
            "{\"x\": 1}",
            "three",
        ];
        let bytes = stream.as_bytes();
        for size in [1, 2, 7, bytes.len()] {
            let chunks: Vec<&[u8]> = bytes.chunks(size).collect();
            let frames = decode(&chunks).unwrap();
            let data: Vec<&str> = frames.iter().map(|(_, data)| data.as_str()).collect();
            assert_eq!(data, expected);
        }
    }
}
