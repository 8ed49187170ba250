//! What an authorizer is told.

use serde_json::{Map, Value, json};

use super::header;
use crate::error::{Error, ErrorKind, Result};

/// One HTTP request of a child process, without its body.
#[derive(Clone, PartialEq, Eq)]
pub struct Request {
    method: String,
    scheme: String,
    host: String,
    port: u16,
    path: String,
    headers: Vec<(String, String)>,
}

impl Request {
    /// A request. Method, scheme, host and names of headers are normalized; of two headers with one name the last counts.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for an empty part, a port of 0, or a name that is none.
    pub fn new(
        method: &str,
        scheme: &str,
        host: &str,
        port: u16,
        path: &str,
        headers: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self> {
        for (part, text) in [
            ("method", method),
            ("scheme", scheme),
            ("host", host),
            ("path", path),
        ] {
            if text.is_empty() {
                return Err(argument(format!("{part} of a network request is empty")));
            }
        }
        if port == 0 {
            return Err(argument("port of a network request is 0".into()));
        }
        let mut kept: Vec<(String, String)> = Vec::new();
        for (name, value) in headers {
            let name = header::normalized(&name).map_err(argument)?;
            kept.retain(|(other, _)| *other != name);
            kept.push((name, value));
        }
        Ok(Self {
            method: method.to_ascii_uppercase(),
            scheme: scheme.to_ascii_lowercase(),
            host: host.to_ascii_lowercase(),
            port,
            path: path.to_owned(),
            headers: kept,
        })
    }

    /// Reads `{method, scheme, host, port, path, headers?}`.
    ///
    /// # Errors
    /// As [`Request::new`].
    pub fn from_value(value: &Value) -> Result<Self> {
        let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
        let port = value.get("port").and_then(Value::as_u64);
        let port = port
            .and_then(|port| u16::try_from(port).ok())
            .ok_or_else(|| {
                argument("port of a network request must be a number from 1 to 65535".into())
            })?;
        let headers = match value.get("headers") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Object(headers)) => headers
                .iter()
                .map(|(name, value)| match value {
                    Value::String(value) => Ok((name.clone(), value.clone())),
                    _ => Err(argument(format!(
                        "the value of the header {name:?} must be a string"
                    ))),
                })
                .collect::<Result<_>>()?,
            Some(_) => {
                return Err(argument(
                    "headers of a network request must be an object".into(),
                ));
            }
        };
        Self::new(
            text("method"),
            text("scheme"),
            text("host"),
            port,
            text("path"),
            headers,
        )
    }

    /// The method in upper case, such as `"GET"`.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// `"https"` for what the gateway took out of TLS.
    #[must_use]
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The allowed host that the request goes to, in lower case.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port that the request goes to.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Path and query exactly as the upstream server will get them. Dot segments are resolved; escapes are not decoded.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The headers that the policy forwards, names in lower case.
    #[must_use]
    pub fn headers(&self) -> &[(String, String)] {
        &self.headers
    }

    /// The value of one header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(other, _)| other.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The shape that crosses to a host, as [`from_value`](Self::from_value) reads it.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let headers: Map<String, Value> = self
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect();
        json!({
            "method": self.method,
            "scheme": self.scheme,
            "host": self.host,
            "port": self.port,
            "path": self.path,
            "headers": headers,
        })
    }
}

/// Values of headers and queries may be secrets.
impl std::fmt::Debug for Request {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.path.split('?').next().unwrap_or_default();
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        formatter
            .debug_struct("Request")
            .field("method", &self.method)
            .field("scheme", &self.scheme)
            .field("host", &self.host)
            .field("port", &self.port)
            .field("path", &path)
            .field("headers", &names)
            .finish()
    }
}

fn argument(message: String) -> Error {
    Error::new(ErrorKind::Argument, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_normalized_and_crosses_to_a_host() {
        let headers = [
            ("Accept".to_owned(), "a".to_owned()),
            ("ACCEPT".to_owned(), "b".to_owned()),
        ];
        let request =
            Request::new("get", "HTTPS", "API.example.com", 443, "/a?b=1", headers).unwrap();
        assert_eq!(
            request.to_value(),
            json!({"method": "GET", "scheme": "https", "host": "api.example.com", "port": 443,
                "path": "/a?b=1", "headers": {"accept": "b"}})
        );
        assert_eq!(Request::from_value(&request.to_value()).unwrap(), request);
        assert_eq!(request.header("Accept"), Some("b"));
    }

    #[test]
    fn secrets_are_not_printed() {
        let headers = [("authorization".to_owned(), "Bearer hush".to_owned())];
        let request = Request::new("GET", "https", "a.b", 443, "/a?token=hush", headers).unwrap();
        let printed = format!("{request:?}");
        assert!(printed.contains("authorization") && !printed.contains("hush"));
    }

    #[test]
    fn nonsense_is_refused() {
        for value in [
            json!({}),
            json!({"method": "GET", "scheme": "https", "host": "a", "port": 0, "path": "/"}),
            json!({"method": "GET", "scheme": "https", "host": "a", "port": 65_536, "path": "/"}),
            json!({"method": "GET", "scheme": "https", "host": "", "port": 1, "path": "/"}),
            json!({"method": "GET", "scheme": "https", "host": "a", "port": 1, "path": "/", "headers": {"a b": "c"}}),
            json!({"method": "GET", "scheme": "https", "host": "a", "port": 1, "path": "/", "headers": {"a": 1}}),
        ] {
            let error = Request::from_value(&value).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Argument, "{value}");
        }
    }
}
