//! Wire formats: how requests are rendered and streamed answers decoded.
//!
//! Every format is a folder with the same files: `request` renders, `stream` decodes, `response`
//! reads what a finished answer says about itself. Decoders are lenient about what arrives and
//! strict about what leaves: events are legal whatever the provider sends.

pub(crate) mod anthropic;
mod attachment;
pub(crate) mod chat_completions;
pub(crate) mod converse;
pub(crate) mod failure;
pub(crate) mod gemini;
mod lenient;
pub(crate) mod responses;
pub(crate) mod schema_dialect;
pub(crate) mod settings;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod testing;
mod token_count;
mod tool_arguments;

use bytes::Bytes;
use serde_json::{Map, Value};

use crate::error::Result;
use crate::event::StreamEvent;
use crate::http::Frame;
use crate::message::Usage;
use crate::model::ModelResponse;

/// A streamed answer in the making.
pub(crate) trait Decoder: Send {
    /// Takes one frame and appends the events it causes to `events`.
    fn push(&mut self, frame: Frame<'_>, events: &mut Vec<StreamEvent>) -> Result<()>;

    /// How much of the answer has arrived.
    fn progress(&self) -> Progress;

    /// The token counts seen so far, final or not.
    fn usage(&self) -> Usage;

    /// Ends the answer: appends the closing events and builds the response.
    ///
    /// # Errors
    /// [`ErrorKind::Protocol`](crate::ErrorKind::Protocol) when the answer broke off, and
    /// [`ErrorKind::MalformedToolCall`](crate::ErrorKind::MalformedToolCall).
    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Result<ModelResponse>;
}

/// The bytes of a request's body, which takes the place of `body`: the answer may take its time.
pub(crate) fn body_bytes(body: Map<String, Value>) -> Bytes {
    // A map of JSON values has nothing that JSON cannot express.
    Bytes::from(serde_json::to_vec(&body).unwrap_or_default())
}

/// Hands `frame` to `decoder`, unless the answer is over: what follows the end is nobody's, whether it came
/// in the same read or not.
pub(crate) fn take(
    decoder: &mut dyn Decoder,
    frame: Frame<'_>,
    events: &mut Vec<StreamEvent>,
) -> Result<()> {
    match decoder.progress() {
        Progress::Done => Ok(()),
        Progress::Open | Progress::Complete => decoder.push(frame, events),
    }
}

/// How much of an answer has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Progress {
    /// More is needed.
    Open,
    /// The answer is complete, but token counts may follow.
    Complete,
    /// Nothing follows.
    Done,
}
