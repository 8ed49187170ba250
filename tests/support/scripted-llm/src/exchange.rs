//! One request and its answer: what a test writes, and what is played.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::completion::Completion;
use crate::eventstream;
use crate::frames::{self, Frame, Newline, Style};
use crate::reply::reason;
use crate::script::{Framing, Script, Step};
use crate::{chat, responses};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExchangeSpec {
    #[serde(rename = "match", default)]
    matching: Match,
    #[serde(default = "ok")]
    status: u16,
    #[serde(default)]
    headers: Map<String, Value>,
    body: Option<Value>,
    sse: Option<Vec<Value>>,
    eventstream: Option<Vec<Value>>,
    chat: Option<Completion>,
    responses: Option<Completion>,
    #[serde(default)]
    newline: Newline,
    #[serde(default)]
    bom: bool,
    #[serde(default)]
    no_space: bool,
    #[serde(default = "yes")]
    final_blank: bool,
    split: Option<usize>,
    #[serde(default)]
    chunk_delay_ms: u64,
    #[serde(default)]
    then: Ending,
    after_frames: Option<i64>,
    #[serde(default)]
    delay_ms: u64,
    #[serde(default)]
    stall_before_head: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Match {
    path: Option<String>,
    body_contains: Option<String>,
}

/// What follows the last byte.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Ending {
    #[default]
    End,
    Close,
    Reset,
    Stall,
}

#[derive(Debug)]
pub(crate) struct Exchange {
    matching: Match,
    pub(crate) stall_before_head: bool,
    pub(crate) steps: Vec<Step>,
    pub(crate) then: Ending,
    pub(crate) keep_alive: bool,
}

const ONE_BODY: &str = "give only one of body, sse, eventstream, chat and responses";

enum Body {
    Plain(Vec<u8>),
    Stream(Vec<Frame>),
    /// Frames of AWS.
    EventStream(Vec<Frame>),
}

impl Exchange {
    pub(crate) fn compile(mut spec: ExchangeSpec) -> Result<Self, String> {
        if spec.split == Some(0) {
            return Err("split takes null or a number from 1".to_owned());
        }
        if !(100..=999).contains(&spec.status) {
            return Err("status takes a number from 100 to 999".to_owned());
        }
        let body = body(&mut spec)?;
        let headers = headers(&spec.headers)?;
        let given = |name: &str| {
            headers
                .iter()
                .any(|(key, _)| key.eq_ignore_ascii_case(name))
        };
        // A test that sets the length itself wants exactly those bytes.
        let chunked = !matches!(body, Body::Plain(_)) && !given("content-length");
        let mut head = format!("HTTP/1.1 {} {}\r\n", spec.status, reason(spec.status));
        let mut default = |name: &str, value: &str| {
            if !given(name) {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
        };
        match &body {
            Body::Stream(_) => {
                default("content-type", "text/event-stream");
                default("cache-control", "no-cache");
            }
            Body::EventStream(_) => {
                default("content-type", "application/vnd.amazon.eventstream");
            }
            Body::Plain(bytes) => {
                default("content-type", "application/json");
                if !given("transfer-encoding") && spec.status != 204 && spec.status != 304 {
                    default("content-length", &bytes.len().to_string());
                }
            }
        }
        if chunked {
            default("transfer-encoding", "chunked");
        }
        for (name, value) in &headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        let keep_alive = !headers.iter().any(|(name, value)| {
            name.eq_ignore_ascii_case("connection") && value.eq_ignore_ascii_case("close")
        });
        Ok(Self {
            stall_before_head: spec.stall_before_head,
            steps: steps(&spec, head.into_bytes(), body, chunked),
            then: spec.then,
            keep_alive,
            matching: spec.matching,
        })
    }

    /// Why this exchange does not fit the request, if it does not.
    pub(crate) fn mismatch(&self, path: &str, body: &[u8]) -> Option<String> {
        if let Some(expected) = &self.matching.path
            && expected.trim_start_matches('/') != path
        {
            return Some(format!("expected path {expected}, got {path}"));
        }
        let text = self.matching.body_contains.as_deref()?;
        (!String::from_utf8_lossy(body).contains(text))
            .then(|| format!("expected a body that contains {text:?}"))
    }
}

fn body(spec: &mut ExchangeSpec) -> Result<Body, String> {
    if let Some(frames) = spec.eventstream.take() {
        if spec.body.is_some()
            || spec.sse.is_some()
            || spec.chat.is_some()
            || spec.responses.is_some()
        {
            return Err(ONE_BODY.to_owned());
        }
        let frames = frames.into_iter().map(eventstream::parse);
        return frames.collect::<Result<_, _>>().map(Body::EventStream);
    }
    match (
        spec.body.take(),
        spec.sse.take(),
        &spec.chat,
        &spec.responses,
    ) {
        (None, None, None, None) => Ok(Body::Plain(Vec::new())),
        (Some(Value::String(text)), None, None, None) => Ok(Body::Plain(text.into_bytes())),
        (Some(json), None, None, None) => Ok(Body::Plain(json.to_string().into_bytes())),
        (None, Some(frames), None, None) => frames
            .into_iter()
            .map(Frame::parse)
            .collect::<Result<_, _>>()
            .map(Body::Stream),
        (None, None, Some(completion), None) => Ok(Body::Stream(chat::frames(completion))),
        (None, None, None, Some(completion)) => Ok(Body::Stream(responses::frames(completion))),
        _ => Err(ONE_BODY.to_owned()),
    }
}

fn steps(spec: &ExchangeSpec, head: Vec<u8>, body: Body, chunked: bool) -> Vec<Step> {
    let pause = (spec.chunk_delay_ms > 0).then(|| Duration::from_millis(spec.chunk_delay_ms));
    let mut script = Script::new(
        head,
        Framing {
            chunked,
            split: spec.split,
            pause,
        },
    );
    match body {
        Body::Plain(bytes) => script.frame(&bytes),
        Body::Stream(frames) | Body::EventStream(frames) => stream(spec, frames, &mut script),
    }
    let mut steps = script.finish(spec.then == Ending::End);
    if spec.delay_ms > 0 {
        steps.insert(0, Step::Pause(Duration::from_millis(spec.delay_ms)));
    }
    steps
}

fn stream(spec: &ExchangeSpec, mut frames: Vec<Frame>, script: &mut Script) {
    if let Some(limit) = spec.after_frames {
        frames = frames::cut(frames, limit);
    }
    let style = Style {
        newline: spec.newline,
        no_space: spec.no_space,
    };
    let frames: Vec<Frame> = frames.into_iter().flat_map(Frame::unroll).collect();
    let first = frames.iter().position(|frame| frame.count() > 0);
    let last = frames.iter().rposition(|frame| frame.count() > 0);
    for (index, frame) in frames.into_iter().enumerate() {
        let mut bytes = frame.render(style);
        if spec.bom && first == Some(index) {
            bytes.splice(..0, *b"\xef\xbb\xbf");
        }
        if !spec.final_blank && last == Some(index) && frame.ends_blank() {
            bytes.truncate(bytes.len() - spec.newline.text().len());
        }
        match frame {
            Frame::Delay(duration) => script.pause(duration),
            Frame::WaitFor(label) => script.wait_for(label),
            Frame::Repeat { count, .. } => script.repeat(&bytes, count),
            Frame::Event { .. } | Frame::Comment(_) | Frame::Raw(_) => script.frame(&bytes),
        }
    }
}

/// Header lines; a list of values gives a line for each.
fn headers(given: &Map<String, Value>) -> Result<Vec<(String, String)>, String> {
    let mut lines = Vec::new();
    for (name, value) in given {
        let values = match value {
            Value::Array(values) => values.as_slice(),
            one => std::slice::from_ref(one),
        };
        for value in values {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                _ => return Err(format!("header {name} takes a string or a number")),
            };
            lines.push((name.clone(), text));
        }
    }
    Ok(lines)
}

fn ok() -> u16 {
    200
}

fn yes() -> bool {
    true
}
