//! How the bytes of an answer are cut into events.

use super::event_stream::EventStreamDecoder;
use super::response::ResponseStream;
use super::sse::{Frame, SseDecoder};
use crate::error::Result;

/// The ways in which services cut their answers into events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events.
    #[default]
    ServerSentEvents,
    /// Binary frames of AWS, of at most so many bytes.
    AwsEventStream { max_frame_bytes: usize },
}

impl Framing {
    /// A decoder that refuses events of more than `max_frame` bytes, unless the framing has a
    /// limit of its own.
    pub(crate) fn decoder(self, max_frame: usize) -> FrameDecoder {
        match self {
            Framing::ServerSentEvents => FrameDecoder::ServerSentEvents(SseDecoder::new(max_frame)),
            Framing::AwsEventStream { max_frame_bytes } => {
                FrameDecoder::AwsEventStream(EventStreamDecoder::new(max_frame_bytes))
            }
        }
    }

    /// Whether the answer's head promises events of this kind.
    pub(crate) fn is_announced(self, stream: &ResponseStream) -> bool {
        match self {
            Framing::ServerSentEvents => stream.is_event_stream(),
            Framing::AwsEventStream { .. } => stream.is_aws_event_stream(),
        }
    }
}

/// Turns bytes, however they are split, into frames.
#[derive(Debug)]
pub(crate) enum FrameDecoder {
    ServerSentEvents(SseDecoder),
    AwsEventStream(EventStreamDecoder),
}

impl FrameDecoder {
    /// Takes bytes and hands every frame they complete to `sink`.
    ///
    /// # Errors
    /// [`ErrorKind::Protocol`](crate::ErrorKind::Protocol) for bytes that are no frames or too
    /// large a frame, and whatever `sink` returns.
    pub(crate) fn feed(
        &mut self,
        chunk: &[u8],
        sink: impl FnMut(Frame<'_>) -> Result<()>,
    ) -> Result<()> {
        match self {
            FrameDecoder::ServerSentEvents(decoder) => decoder.feed(chunk, sink),
            FrameDecoder::AwsEventStream(decoder) => decoder.feed(chunk, sink),
        }
    }

    /// Takes the end of the bytes.
    ///
    /// # Errors
    /// As [`feed`](Self::feed).
    pub(crate) fn finish(&mut self, sink: impl FnMut(Frame<'_>) -> Result<()>) -> Result<()> {
        match self {
            FrameDecoder::ServerSentEvents(decoder) => decoder.finish(sink),
            FrameDecoder::AwsEventStream(decoder) => decoder.finish(),
        }
    }
}
