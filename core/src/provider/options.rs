//! Options of a connection, checked and typed.

use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

use super::openai_compatible::Api;
use super::secret::Secret;
use crate::error::{Error, ErrorKind, Result};
use crate::http::{Limits, RetryPolicy};
use crate::message::kind_of;

/// The longest timeout that is taken literally: a year, which every clock can add.
const MAX_SECONDS: f64 = 31_536_000.0;

/// Reads the options of one connection. Errors name the connection and the option, never a value.
pub(super) struct Options<'a> {
    connection: &'a str,
    map: &'a Map<String, Value>,
}

impl<'a> Options<'a> {
    /// # Errors
    /// [`ErrorKind::Configuration`] when an option is not in `allowed`.
    pub(super) fn new(
        connection: &'a str,
        adapter: &str,
        map: &'a Map<String, Value>,
        allowed: &[&str],
    ) -> Result<Self> {
        for (key, value) in map {
            if !value.is_null() && !allowed.contains(&key.as_str()) {
                return Err(Error::new(
                    ErrorKind::Configuration,
                    format!(
                        "connection {connection:?} has the unknown option {key:?}; adapter \
                         {adapter:?} takes {}",
                        allowed.join(", ")
                    ),
                ));
            }
        }
        Ok(Self { connection, map })
    }

    /// For adapters that pass over options they do not know.
    pub(super) fn lenient(connection: &'a str, map: &'a Map<String, Value>) -> Self {
        Self { connection, map }
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<&'a str>> {
        match self.present(name) {
            None => Ok(None),
            Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.invalid(name, "a string", other)),
        }
    }

    pub(super) fn secret(&self, name: &str) -> Result<Option<Secret>> {
        Ok(self.text(name)?.map(Secret::new))
    }

    pub(super) fn flag(&self, name: &str) -> Result<bool> {
        match self.present(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(self.invalid(name, "true or false", other)),
        }
    }

    pub(super) fn count(&self, name: &str) -> Result<Option<u64>> {
        match self.present(name) {
            None => Ok(None),
            Some(value) => match value.as_u64() {
                Some(count) => Ok(Some(count)),
                None => Err(self.invalid(name, "a whole number from 0", value)),
            },
        }
    }

    pub(super) fn seconds(&self, name: &str) -> Result<Option<Duration>> {
        let Some(value) = self.present(name) else {
            return Ok(None);
        };
        value
            .as_f64()
            .filter(|seconds| seconds.is_finite() && *seconds >= 0.0)
            .map(|seconds| Some(Duration::from_secs_f64(seconds.min(MAX_SECONDS))))
            .ok_or_else(|| self.invalid(name, "a number of seconds from 0", value))
    }

    pub(super) fn api(&self) -> Result<Api> {
        match self.text("api")? {
            None => Ok(Api::Responses),
            Some(name) => Api::from_name(name).ok_or_else(|| {
                Error::new(
                    ErrorKind::Configuration,
                    format!(
                        "option api of connection {:?} must be \"responses\" or \
                         \"chat_completions\"",
                        self.connection
                    ),
                )
            }),
        }
    }

    pub(super) fn limits(&self) -> Result<Limits> {
        let default = Limits::default();
        Ok(Limits {
            open_timeout: self
                .seconds("open_timeout")?
                .unwrap_or(default.open_timeout),
            read_timeout: self.seconds("read_timeout")?,
            max_response_bytes: self
                .count("max_response_bytes")?
                .unwrap_or(default.max_response_bytes),
        })
    }

    pub(super) fn retry(&self) -> Result<RetryPolicy> {
        let default = RetryPolicy::default();
        Ok(RetryPolicy {
            max_retries: self
                .count("max_retries")?
                .map_or(default.max_retries, |count| {
                    u32::try_from(count).unwrap_or(u32::MAX)
                }),
            max_retry_delay: self
                .seconds("max_retry_delay")?
                .unwrap_or(default.max_retry_delay),
        })
    }

    /// The configured headers; those with empty values are left out.
    pub(super) fn headers(&self) -> Result<HeaderMap> {
        let mut headers = HeaderMap::new();
        let map = match self.present("headers") {
            None => return Ok(headers),
            Some(Value::Object(map)) => map,
            Some(other) => return Err(self.invalid("headers", "a mapping", other)),
        };
        for (name, value) in map {
            let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| {
                Error::new(
                    ErrorKind::Configuration,
                    format!(
                        "{name:?} in headers of connection {:?} is not a header name",
                        self.connection
                    ),
                )
            })?;
            let text = match value {
                Value::Null => continue,
                Value::String(text) => text.clone(),
                Value::Number(_) | Value::Bool(_) => value.to_string(),
                other => return Err(self.invalid(&format!("headers.{name}"), "a string", other)),
            };
            if !text.is_empty() {
                headers.insert(parsed, self.header_value(name, &text)?);
            }
        }
        Ok(headers)
    }

    /// What errors must not repeat: the key, and the values of configured headers.
    pub(super) fn secrets(key: Option<Secret>, configured: &HeaderMap) -> Vec<Secret> {
        let of_headers = configured
            .values()
            .filter_map(|value| value.to_str().ok())
            .map(|value| Secret::new(value.strip_prefix("Bearer ").unwrap_or(value)));
        key.into_iter().chain(of_headers).collect()
    }

    /// `text` as the value of a header that logs must not show.
    pub(super) fn header_value(&self, name: &str, text: &str) -> Result<HeaderValue> {
        let mut value = HeaderValue::from_str(text).map_err(|_| {
            Error::new(
                ErrorKind::Configuration,
                format!(
                    "the value for {name} of connection {:?} contains characters that a header \
                     cannot carry, such as a line break",
                    self.connection
                ),
            )
        })?;
        value.set_sensitive(true);
        Ok(value)
    }

    fn present(&self, name: &str) -> Option<&'a Value> {
        self.map.get(name).filter(|value| !value.is_null())
    }

    fn invalid(&self, name: &str, expected: &str, got: &Value) -> Error {
        // A number is no secret, and its kind would not tell what is wrong.
        let got = match got {
            Value::Number(number) if expected.contains("number") => number.to_string(),
            other => kind_of(other).to_owned(),
        };
        Error::new(
            ErrorKind::Configuration,
            format!(
                "option {name} of connection {:?} must be {expected}, not {got}",
                self.connection,
            ),
        )
    }
}
