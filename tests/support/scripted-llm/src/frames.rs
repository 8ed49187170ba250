//! Frames of an SSE body: what a test writes, and the bytes it stands for.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Debug, Clone)]
pub(crate) enum Frame {
    Event {
        /// `event`, `id` and `retry` lines, in the order given.
        fields: Vec<(String, String)>,
        data: String,
    },
    Comment(String),
    Raw(Vec<u8>),
    Delay(Duration),
    WaitFor(String),
    Repeat {
        frame: Box<Frame>,
        count: usize,
    },
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Newline {
    #[default]
    Lf,
    Crlf,
    Cr,
}

/// How events are spelled; `Raw` frames are not touched by it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Style {
    pub(crate) newline: Newline,
    pub(crate) no_space: bool,
}

impl Frame {
    /// An event without a name.
    pub(crate) fn data(data: impl Into<String>) -> Self {
        Self::Event {
            fields: Vec::new(),
            data: data.into(),
        }
    }

    pub(crate) fn named(event: &str, data: impl Into<String>) -> Self {
        Self::Event {
            fields: vec![("event".to_owned(), event.to_owned())],
            data: data.into(),
        }
    }

    /// Reads one entry of `sse`. An object is a directive only when its keys
    /// are exactly a directive's; any other is the data of an event.
    pub(crate) fn parse(value: Value) -> Result<Self, String> {
        let object = match value {
            Value::String(text) => return Ok(Self::data(text)),
            Value::Object(object) => object,
            other => return Ok(Self::data(other.to_string())),
        };
        let lone = match object.iter().next() {
            Some((key, value)) if object.len() == 1 => Some((key.as_str(), value)),
            _ => None,
        };
        match lone {
            Some(("raw", Value::String(text))) => Ok(Self::Raw(text.clone().into_bytes())),
            Some(("bytes", Value::Array(bytes))) => bytes
                .iter()
                .map(|byte| byte.as_u64().and_then(|byte| u8::try_from(byte).ok()))
                .collect::<Option<Vec<u8>>>()
                .map(Self::Raw)
                .ok_or_else(|| "bytes takes whole numbers from 0 to 255".to_owned()),
            Some(("comment", Value::String(text))) => Ok(Self::Comment(text.clone())),
            Some(("delay_ms", value)) => value
                .as_u64()
                .map(|delay| Self::Delay(Duration::from_millis(delay)))
                .ok_or_else(|| "delay_ms takes a whole number".to_owned()),
            Some(("wait_for", Value::String(label))) => Ok(Self::WaitFor(label.clone())),
            Some(("repeat", Value::Object(repeat))) => Self::parse_repeat(repeat),
            _ if is_named_event(&object) => Ok(Self::parse_event(object)),
            _ => Ok(Self::data(Value::Object(object).to_string())),
        }
    }

    fn parse_repeat(repeat: &Map<String, Value>) -> Result<Self, String> {
        let count = repeat
            .get("count")
            .and_then(Value::as_u64)
            .and_then(|count| usize::try_from(count).ok());
        let (Some(frame), Some(count), 2) = (repeat.get("frame"), count, repeat.len()) else {
            return Err("repeat takes a frame and a count".to_owned());
        };
        match Self::parse(frame.clone())? {
            Self::Delay(_) | Self::WaitFor(_) | Self::Repeat { .. } => {
                Err("repeat takes a frame that has bytes of its own".to_owned())
            }
            frame => Ok(Self::Repeat {
                frame: Box::new(frame),
                count,
            }),
        }
    }

    fn parse_event(object: Map<String, Value>) -> Self {
        let mut fields = Vec::new();
        let mut data = String::new();
        for (key, value) in object {
            let text = match value {
                Value::String(text) => text,
                other => other.to_string(),
            };
            if key == "data" {
                data = text;
            } else {
                fields.push((key, text));
            }
        }
        Self::Event { fields, data }
    }

    /// Takes the first and the last frame out of a repetition: the first may
    /// get a byte order mark, and the last may lose its blank line.
    pub(crate) fn unroll(self) -> Vec<Self> {
        match self {
            Self::Repeat { count: 0, .. } => Vec::new(),
            Self::Repeat { frame, count: 1 } => vec![*frame],
            Self::Repeat { frame, count } => {
                let (first, last) = ((*frame).clone(), (*frame).clone());
                let between = Self::Repeat {
                    frame,
                    count: count - 2,
                };
                vec![first, between, last]
            }
            single => vec![single],
        }
    }

    /// How many frames with bytes this is.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Delay(_) | Self::WaitFor(_) => 0,
            Self::Repeat { count, .. } => *count,
            Self::Event { .. } | Self::Comment(_) | Self::Raw(_) => 1,
        }
    }

    /// The bytes of one event or comment, or of what is repeated.
    pub(crate) fn render(&self, style: Style) -> Vec<u8> {
        let newline = style.newline.text();
        let mut out = String::new();
        match self {
            Self::Raw(bytes) => return bytes.clone(),
            Self::Repeat { frame, .. } => return frame.render(style),
            Self::Delay(_) | Self::WaitFor(_) => {}
            Self::Comment(text) => {
                out = format!(": {text}{newline}{newline}");
            }
            Self::Event { fields, data } => {
                let colon = if style.no_space { ":" } else { ": " };
                let fields = fields
                    .iter()
                    .map(|(key, value)| (key.as_str(), value.as_str()));
                // Each line of the data is a line of its own, as SSE has it.
                let data = data.split('\n').map(|line| ("data", line));
                for (key, value) in fields.chain(data) {
                    out.push_str(key);
                    out.push_str(colon);
                    out.push_str(value);
                    out.push_str(newline);
                }
                out.push_str(newline);
            }
        }
        out.into_bytes()
    }

    /// Whether the rendered bytes end with a blank line of ours.
    pub(crate) fn ends_blank(&self) -> bool {
        match self {
            Self::Event { .. } | Self::Comment(_) => true,
            Self::Repeat { .. } | Self::Raw(_) | Self::Delay(_) | Self::WaitFor(_) => false,
        }
    }
}

fn is_named_event(object: &Map<String, Value>) -> bool {
    object.contains_key("event")
        && object.contains_key("data")
        && object
            .keys()
            .all(|key| matches!(key.as_str(), "event" | "data" | "id" | "retry"))
}

impl Newline {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::Crlf => "\r\n",
            Self::Cr => "\r",
        }
    }
}

/// Keeps the first `limit` frames with bytes; a negative limit drops as many
/// from the end. Pauses after the cut go, too.
pub(crate) fn cut(frames: Vec<Frame>, limit: i64) -> Vec<Frame> {
    let total: usize = frames.iter().map(Frame::count).sum();
    let size = usize::try_from(limit.unsigned_abs()).unwrap_or(usize::MAX);
    let mut left = if limit < 0 {
        total.saturating_sub(size)
    } else {
        size
    };
    if left >= total {
        return frames;
    }
    let mut kept = Vec::new();
    for mut frame in frames {
        if left == 0 {
            break;
        }
        if let Frame::Repeat { count, .. } = &mut frame {
            *count = left.min(*count);
        }
        left -= frame.count();
        kept.push(frame);
    }
    kept
}
