//! What holds for every answer, whatever its bytes and however they are cut.

use std::fmt::Write as _;

use serde_json::Value;

use super::formats::Format;
use crate::error::{Error, Result};
use crate::event::StreamEvent;
use crate::http::Frame;
use crate::message::{Content, ToolUse};
use crate::model::ModelResponse;
use crate::protocol::testing::check_sequence;
use crate::protocol::{Progress, take};

/// Small enough to be reached by an input, large enough for a usual frame.
const MAX_FRAME: usize = 64 * 1_024;

/// What came of an answer.
struct Decoded {
    events: Vec<StreamEvent>,
    outcome: Result<ModelResponse>,
}

/// Reads `input` as one, byte by byte and as a document, and returns what tells outcomes apart.
pub(super) fn check(format: &Format, input: &[u8]) -> String {
    let whole = decode(format, [input]);
    whole.check(format);
    same(&whole, &decode(format, input.chunks(1)), 1);
    document(format, input).check(format);
    whole.signature()
}

/// Reads `input` in two pieces and as one.
pub(super) fn check_split(format: &Format, input: &[u8], at: usize) {
    let (head, tail) = input.split_at(at.min(input.len()));
    let whole = decode(format, [input]);
    same(&whole, &decode(format, [head, tail]), at);
}

/// Reads an answer as a call does.
fn decode<'a>(format: &Format, pieces: impl IntoIterator<Item = &'a [u8]>) -> Decoded {
    let mut events = Vec::new();
    let mut decoder = (format.decoder)();
    let mut frames = format.framing.decoder(MAX_FRAME);
    let mut fed = Ok(());
    for piece in pieces.into_iter().map(Some).chain([None]) {
        let mut sink = |frame: Frame<'_>| take(&mut *decoder, frame, &mut events);
        fed = match piece {
            Some(bytes) => frames.feed(bytes, &mut sink),
            None => frames.finish(&mut sink),
        };
        if decoder.progress() == Progress::Done {
            fed = Ok(());
            break;
        }
        if fed.is_err() {
            break;
        }
    }
    let outcome = fed.and_then(|()| decoder.finish(&mut events));
    Decoded { events, outcome }
}

/// Reads an answer of a service that does not stream.
fn document(format: &Format, input: &[u8]) -> Decoded {
    let mut events = Vec::new();
    let mut decoder = (format.decoder)();
    let frame = Frame {
        event: b"",
        data: input,
    };
    let pushed = decoder.push(frame, &mut events);
    let outcome = pushed.and_then(|()| decoder.finish(&mut events));
    Decoded { events, outcome }
}

fn same(whole: &Decoded, pieces: &Decoded, size: usize) {
    assert_eq!(whole.lines(), pieces.lines(), "cut at {size}");
}

impl Decoded {
    fn lines(&self) -> Vec<String> {
        let events = self.events.iter();
        let lines = events.map(|event| format!("{} {}", event.kind(), event.data()));
        let end = match &self.outcome {
            Ok(response) => response.to_value().to_string(),
            Err(error) => format!("{} {:?}", error.to_value(), error.retry()),
        };
        lines
            .chain([end])
            .map(|line| without_random_ids(&line))
            .collect()
    }

    fn check(&self, format: &Format) {
        check_sequence(&self.events, !format.restates);
        match &self.outcome {
            Ok(response) => self.check_response(response),
            Err(error) => check_error(error),
        }
    }

    /// The response says what the events said.
    fn check_response(&self, response: &ModelResponse) {
        assert!(!self.events.is_empty(), "an answer that never started");
        let mut text = String::new();
        let mut calls: Vec<&ToolUse> = Vec::new();
        let mut started = 0;
        let mut counts = Vec::new();
        for event in &self.events {
            match event {
                StreamEvent::TextDelta { text: piece } => text.push_str(piece),
                StreamEvent::ToolCallStart { .. } => started += 1,
                StreamEvent::ToolCallStop { tool_use, .. } => calls.push(tool_use),
                StreamEvent::Usage { usage } => counts.push(*usage),
                _ => {}
            }
        }
        assert_eq!(started, calls.len(), "calls that never stopped");
        // A block that stops first need not have started first. Two calls of one id are the agent's to refuse.
        let mut uses: Vec<&ToolUse> = response.message.tool_uses().collect();
        uses.sort_by_key(|call| call.to_value().to_string());
        calls.sort_by_key(|call| call.to_value().to_string());
        assert_eq!(uses, calls, "other calls in the response");
        // Blocks are in the order of their positions, and may have come in another.
        let sorted = |text: &str| {
            let mut letters: Vec<char> = text.chars().collect();
            letters.sort_unstable();
            letters
        };
        let whole = response.message.text();
        assert_eq!(sorted(&whole), sorted(&text), "other text in the response");
        assert!(counts.len() <= 1, "tokens that are counted twice");
        let counted = counts.first().copied().unwrap_or_default();
        assert_eq!(response.usage, counted, "other tokens in the response");
        let read = ModelResponse::from_value(&response.to_value());
        assert_eq!(
            read.as_ref().ok(),
            Some(response),
            "cannot be kept: {read:?}"
        );
    }

    /// Kinds of events in a row, what the answer holds, and how it ends.
    fn signature(&self) -> String {
        let mut text = String::new();
        let mut last = "";
        for event in &self.events {
            if event.kind() != last {
                last = event.kind();
                let _ = write!(text, "{last} ");
            }
        }
        match &self.outcome {
            Ok(response) => {
                let kind = |block: &Content| block.to_value().get("type").map(Value::to_string);
                let blocks: Vec<_> = response.message.content.iter().map(kind).collect();
                let _ = write!(text, "{} {blocks:?}", response.stop_reason.as_str());
                let total = response.usage.total_tokens();
                let _ = write!(text, " {}", 64 - total.leading_zeros());
            }
            Err(error) => {
                let head: String = error.message().chars().take(40).collect();
                let _ = write!(text, "{} {:?} {head}", error.kind(), error.retry());
            }
        }
        text
    }
}

/// `line` without the random part of ids that are made here, for calls of answers without any id.
fn without_random_ids(line: &str) -> String {
    const MADE: &str = "generated-";
    let mut parts = line.split(MADE);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(['-', '"']).unwrap_or(part.len());
        let (id, rest) = part.split_at(end);
        let is_random = id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        text.push_str(if is_random { "random" } else { id });
        text.push_str(rest);
    }
    text
}

/// An error tells what is wrong, in a length that a log can take.
fn check_error(error: &Error) {
    let length = error.message().chars().count();
    assert!(
        (1..=4_096).contains(&length),
        "a message of {length} letters"
    );
    assert!(
        error.is(crate::error::ErrorKind::Provider),
        "{error:?} is no failure of a provider"
    );
}
