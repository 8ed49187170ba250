//! What can go wrong with one request.

use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

use crate::error::Result;
use crate::message::kind_of;
use crate::testing::turn_value::{invalid, string, wrong};

const KEYS: &str = "on, status, headers, body, drop_after, stall_after, truncate_after, \
    garbage_after and delay";

/// What becomes of one request instead of an ordinary exchange.
#[derive(Clone, Debug)]
pub struct Fault(pub(super) Plan);

#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) delay: Duration,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// An answer of our own; nothing is sent.
    Answer {
        status: u16,
        headers: HeaderMap,
        body: Bytes,
    },
    /// The real answer up to so many bytes, and then something else.
    Cut { after: u64, end: End },
}

/// How an answer goes on where it is cut.
#[derive(Clone, Debug)]
pub(super) enum End {
    /// The connection breaks.
    Drop,
    /// Nothing comes any more.
    Stall,
    /// The answer ends as if it were complete.
    Truncate,
    /// These bytes, and the end.
    Garbage(Bytes),
}

/// Bytes that are neither UTF-8 nor an event.
const GARBAGE: &[u8] = b"data: \xff\xfe\x00{\"}}]\n\n\x80\x81";

impl Fault {
    /// The service answers with `status` and an empty body; nothing is sent.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self::new(Kind::Answer {
            status,
            headers: HeaderMap::new(),
            body: Bytes::new(),
        })
    }

    /// The connection breaks after so many bytes of the answer's body; with 0, nothing is sent.
    #[must_use]
    pub fn drop_after(bytes: u64) -> Self {
        Self::cut(bytes, End::Drop)
    }

    /// Nothing comes after so many bytes of the answer's body, until a timeout or a deadline; with 0,
    /// nothing is sent.
    #[must_use]
    pub fn stall_after(bytes: u64) -> Self {
        Self::cut(bytes, End::Stall)
    }

    /// The answer ends after so many bytes of its body, as if it were complete.
    #[must_use]
    pub fn truncate_after(bytes: u64) -> Self {
        Self::cut(bytes, End::Truncate)
    }

    /// After so many bytes of the answer's body come bytes that are no event, and the end.
    #[must_use]
    pub fn garbage_after(bytes: u64) -> Self {
        Self::cut(bytes, End::Garbage(Bytes::from_static(GARBAGE)))
    }

    fn new(kind: Kind) -> Self {
        Self(Plan {
            delay: Duration::ZERO,
            kind,
        })
    }

    fn cut(after: u64, end: End) -> Self {
        Self::new(Kind::Cut { after, end })
    }

    /// Waits before anything happens.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.0.delay = delay;
        self
    }

    /// Adds a header such as `Retry-After` to an answer of [`Fault::status`].
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) for what cannot be a header, and for other faults.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self> {
        let Kind::Answer { headers, .. } = &mut self.0.kind else {
            return Err(invalid(
                "only a fault with a status has headers and a body of its own",
            ));
        };
        let parsed = (
            HeaderName::from_bytes(name.as_bytes()),
            HeaderValue::from_str(value),
        );
        let (Ok(name), Ok(value)) = parsed else {
            return Err(invalid(format!("{name:?} cannot be a header")));
        };
        headers.insert(name, value);
        Ok(self)
    }

    /// Sets the body of an answer of [`Fault::status`].
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) for other faults.
    pub fn body(mut self, content: impl Into<Bytes>) -> Result<Self> {
        let Kind::Answer { body, .. } = &mut self.0.kind else {
            return Err(invalid(
                "only a fault with a status has headers and a body of its own",
            ));
        };
        *body = content.into();
        Ok(self)
    }

    /// Reads `{status, headers?, body?}`, or one of `drop_after`, `stall_after`, `truncate_after` and
    /// `garbage_after` with a number of bytes; each with an optional `delay` in seconds. A body that is no
    /// string is sent as JSON.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) for anything else.
    pub fn from_value(value: &Value) -> Result<Self> {
        let Value::Object(map) = value else {
            return Err(invalid(format!(
                "a fault is an object with some of {KEYS}, not {}",
                kind_of(value)
            )));
        };
        let mut fault = base(map)?;
        for (key, value) in map {
            fault = match key.as_str() {
                _ if value.is_null() => fault,
                "headers" => {
                    let headers = value
                        .as_object()
                        .ok_or_else(|| wrong(key, "an object", value))?;
                    headers.iter().try_fold(fault, |fault, (name, value)| {
                        let text = match value {
                            Value::Number(number) => number.to_string(),
                            other => string(name, other)?,
                        };
                        fault.header(name, &text)
                    })?
                }
                "body" => body(fault, value)?,
                "delay" => fault.delay(
                    value
                        .as_f64()
                        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                        .ok_or_else(|| wrong(key, "a number of seconds", value))?,
                ),
                _ => fault,
            };
        }
        Ok(fault)
    }
}

/// The fault itself, without what may be added to it.
fn base(map: &Map<String, Value>) -> Result<Fault> {
    let mut found = None;
    for (key, value) in map {
        let number = || {
            value
                .as_u64()
                .ok_or_else(|| wrong(key, "a number of bytes from 0", value))
        };
        let fault = match key.as_str() {
            _ if value.is_null() => continue,
            "status" => {
                let status = value.as_u64().and_then(|status| u16::try_from(status).ok());
                let known = status.filter(|status| (200..600).contains(status));
                Fault::status(known.ok_or_else(|| wrong(key, "a number from 200 to 599", value))?)
            }
            "drop_after" => Fault::drop_after(number()?),
            "stall_after" => Fault::stall_after(number()?),
            "truncate_after" => Fault::truncate_after(number()?),
            "garbage_after" => Fault::garbage_after(number()?),
            "on" | "headers" | "body" | "delay" => continue,
            other => {
                return Err(invalid(format!(
                    "a fault has no {other:?}; possible are {KEYS}"
                )));
            }
        };
        if found.replace(fault).is_some() {
            return Err(invalid(
                "a fault does one thing: give it only one of status, drop_after, stall_after, \
                 truncate_after and garbage_after",
            ));
        }
    }
    found.ok_or_else(|| {
        invalid(
            "a fault needs one of status, drop_after, stall_after, truncate_after and \
             garbage_after",
        )
    })
}

fn body(fault: Fault, value: &Value) -> Result<Fault> {
    let json = HeaderValue::from_static("application/json");
    let mut fault = match value {
        Value::String(text) => return fault.body(text.clone()),
        other => fault.body(other.to_string())?,
    };
    if let Kind::Answer { headers, .. } = &mut fault.0.kind {
        headers.entry(CONTENT_TYPE).or_insert(json);
    }
    Ok(fault)
}
