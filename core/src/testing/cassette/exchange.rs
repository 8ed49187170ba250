//! One request and its answer, as a cassette holds them.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value, json};

use super::scrub::{MASK, Scrubber, is_secret_name};
use crate::error::Result;
use crate::http::Post;
use crate::testing::turn_value::{invalid, string, wrong};

/// Headers of an answer that are kept: what the engine looks at, and nothing that names an account.
const KEPT_HEADERS: &[&str] = &["content-type", "retry-after", "retry-after-ms"];

/// What was asked, without headers: they hold credentials, and nothing that tells requests apart.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) host: String,
    pub(super) path: String,
    pub(super) query: Map<String, Value>,
    pub(super) body: Value,
}

/// What was answered.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) chunks: Vec<Bytes>,
    /// The connection ended with the answer, and not before.
    pub(super) complete: bool,
}

/// One request and its answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Exchange {
    pub(super) request: Request,
    pub(super) response: Response,
}

impl Request {
    pub(super) fn new(post: &Post, body: &[u8]) -> Self {
        let url = post.endpoint.url();
        let query = url.query_pairs().map(|(name, value)| {
            let value = if is_secret_name(&name) { MASK } else { &*value };
            (name.into_owned(), json!(value))
        });
        Self {
            method: "POST".into(),
            host: post.endpoint.address().to_owned(),
            path: url.path().to_owned(),
            query: query.collect(),
            body: serde_json::from_slice(body)
                .unwrap_or_else(|_| json!(String::from_utf8_lossy(body))),
        }
    }

    pub(super) fn scrubbed(&self, scrubber: &Scrubber) -> Self {
        let query = scrubber.value(&Value::Object(self.query.clone()));
        Self {
            method: self.method.clone(),
            host: scrubber.text(&self.host),
            path: scrubber.text(&self.path),
            query: query.as_object().cloned().unwrap_or_default(),
            body: scrubber.value(&self.body),
        }
    }

    fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("method".into(), json!(self.method));
        map.insert("host".into(), json!(self.host));
        map.insert("path".into(), json!(self.path));
        if !self.query.is_empty() {
            map.insert("query".into(), json!(self.query));
        }
        map.insert("body".into(), self.body.clone());
        Value::Object(map)
    }

    fn from_value(value: &Value) -> Result<Self> {
        let map = object("request", value)?;
        let text = |key: &str| match map.get(key) {
            Some(value) => string(key, value),
            None => Err(invalid(format!("a request has no {key}"))),
        };
        Ok(Self {
            method: text("method")?,
            host: text("host")?,
            path: text("path")?,
            query: match map.get("query") {
                None => Map::new(),
                Some(query) => object("query", query)?.clone(),
            },
            body: map.get("body").cloned().unwrap_or_default(),
        })
    }
}

/// The request's line, for messages.
impl fmt::Display for Request {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.method, self.path)
    }
}

impl Response {
    /// The headers that may be kept.
    pub(super) fn kept(headers: &HeaderMap) -> HeaderMap {
        let kept = KEPT_HEADERS
            .iter()
            .filter_map(|name| Some((HeaderName::from_static(name), headers.get(*name)?.clone())));
        kept.collect()
    }

    fn is_json(&self) -> bool {
        let kind = self.headers.get(CONTENT_TYPE);
        kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"))
    }

    fn to_value(&self, scrubber: &Scrubber) -> Value {
        let mut map = Map::new();
        map.insert("status".into(), json!(self.status));
        let headers = self.headers.iter().map(|(name, value)| {
            let text = String::from_utf8_lossy(value.as_bytes());
            (name.as_str().to_owned(), json!(scrubber.text(&text)))
        });
        map.insert("headers".into(), Value::Object(headers.collect()));
        let document = || serde_json::from_slice::<Value>(&self.chunks.concat()).ok();
        match document().filter(|_| self.is_json() && self.complete) {
            Some(document) => {
                map.insert("json".into(), scrubber.value(&document));
            }
            None => {
                let chunks = scrubber.chunks(&self.chunks);
                let chunks = chunks.iter().map(|chunk| chunk_value(chunk));
                map.insert("chunks".into(), chunks.collect());
            }
        }
        if !self.complete {
            map.insert("complete".into(), json!(false));
        }
        Value::Object(map)
    }

    fn from_value(value: &Value) -> Result<Self> {
        let map = object("response", value)?;
        let status = map.get("status").unwrap_or(&Value::Null);
        let mut headers = HeaderMap::new();
        let empty = json!({});
        for (name, value) in object("headers", map.get("headers").unwrap_or(&empty))? {
            let text = string(name, value)?;
            match (
                HeaderName::from_bytes(name.as_bytes()),
                HeaderValue::from_str(&text),
            ) {
                (Ok(name), Ok(value)) => headers.insert(name, value),
                _ => return Err(invalid(format!("{name:?} cannot be a header"))),
            };
        }
        let chunks = match (map.get("json"), map.get("chunks")) {
            (Some(document), None) => vec![Bytes::from(document.to_string())],
            (None, Some(Value::Array(chunks))) => {
                chunks.iter().map(chunk_bytes).collect::<Result<_>>()?
            }
            _ => return Err(invalid("a response has either json or an array of chunks")),
        };
        Ok(Self {
            status: status
                .as_u64()
                .and_then(|status| u16::try_from(status).ok())
                .ok_or_else(|| wrong("status", "an HTTP status", status))?,
            headers,
            chunks,
            complete: map.get("complete") != Some(&json!(false)),
        })
    }
}

impl Exchange {
    /// `{request, response}` without secrets.
    pub(super) fn to_value(&self, scrubber: &Scrubber) -> Value {
        json!({
            "request": self.request.scrubbed(scrubber).to_value(),
            "response": self.response.to_value(scrubber),
        })
    }

    pub(super) fn from_value(value: &Value) -> Result<Self> {
        let map = object("an exchange", value)?;
        Ok(Self {
            request: Request::from_value(map.get("request").unwrap_or(&Value::Null))?,
            response: Response::from_value(map.get("response").unwrap_or(&Value::Null))?,
        })
    }
}

/// A text, an array of texts when it holds several events, or `{base64}` for what is no text.
fn chunk_value(chunk: &[u8]) -> Value {
    let Ok(text) = std::str::from_utf8(chunk) else {
        return json!({"base64": STANDARD.encode(chunk)});
    };
    let events: Vec<&str> = text.split_inclusive("\n\n").collect();
    match events.as_slice() {
        [_, _, ..] => json!(events),
        _ => json!(text),
    }
}

fn chunk_bytes(value: &Value) -> Result<Bytes> {
    match value {
        Value::String(text) => Ok(Bytes::from(text.clone())),
        Value::Array(parts) => {
            let parts: Vec<Bytes> = parts.iter().map(chunk_bytes).collect::<Result<_>>()?;
            Ok(Bytes::from(parts.concat()))
        }
        Value::Object(map) => map
            .get("base64")
            .and_then(Value::as_str)
            .and_then(|text| STANDARD.decode(text).ok())
            .map(Bytes::from)
            .ok_or_else(|| invalid("a chunk that is no text needs base64")),
        other => Err(wrong("a chunk", "a text", other)),
    }
}

fn object<'a>(what: &str, value: &'a Value) -> Result<&'a Map<String, Value>> {
    value
        .as_object()
        .ok_or_else(|| wrong(what, "an object", value))
}
