//! The wire formats.

use crate::http::Framing;
use crate::protocol::Decoder;
use crate::protocol::anthropic::MessagesDecoder;
use crate::protocol::chat_completions::ChatDecoder;
use crate::protocol::converse::ConverseDecoder;
use crate::protocol::gemini::GeminiDecoder;
use crate::protocol::responses::ResponsesDecoder;

/// A wire format: how an answer is framed, and what reads it.
pub(super) struct Format {
    pub(super) name: &'static str,
    pub(super) framing: Framing,
    pub(super) decoder: fn() -> Box<dyn Decoder>,
    /// Arguments of calls are said twice, and the last word counts, whatever was streamed.
    pub(super) restates: bool,
}

/// Every format.
pub(super) const FORMATS: &[Format] = &[
    Format {
        name: "anthropic",
        framing: Framing::ServerSentEvents,
        decoder: || Box::new(MessagesDecoder::new("asked-model")),
        restates: false,
    },
    Format {
        name: "chat_completions",
        framing: Framing::ServerSentEvents,
        decoder: || Box::new(ChatDecoder::new("asked-model")),
        restates: false,
    },
    Format {
        name: "converse",
        framing: Framing::AwsEventStream {
            max_frame_bytes: 64 * 1_024,
        },
        decoder: || Box::new(ConverseDecoder::new("asked-model")),
        restates: false,
    },
    Format {
        name: "gemini",
        framing: Framing::ServerSentEvents,
        decoder: || Box::new(GeminiDecoder::new("asked-model")),
        restates: false,
    },
    Format {
        name: "responses",
        framing: Framing::ServerSentEvents,
        decoder: || Box::new(ResponsesDecoder::new("asked-model")),
        restates: true,
    },
];
