//! Requests for credentials.

use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use serde_json::Value;
use tokio::time::sleep;

use super::trail::unusable;
use crate::error::{Error, ErrorKind, Result, Retry};
use crate::http::{Exchange, Reply, shorten};
use crate::provider::Secret;

/// How often a service is asked that is busy or away.
const ATTEMPTS: u32 = 3;

/// The pause after the first attempt; it doubles.
const PAUSE: Duration = Duration::from_millis(200);

/// Characters of a service's own explanation that are repeated in our message.
const MAX_EXPLANATION: usize = 500;

/// One request for credentials.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) open_timeout: Duration,
    pub(super) timeout: Duration,
    /// Whether it stays on this machine or its network, and so goes through no proxy.
    pub(super) direct: bool,
}

impl Request {
    /// For a service in the internet.
    pub(super) fn new(method: Method, url: Url) -> Self {
        let direct = is_loopback(&url);
        Self {
            method,
            url,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            open_timeout: Duration::from_secs(5),
            timeout: Duration::from_secs(30),
            direct,
        }
    }

    /// For a service of the machine, which answers within `timeout` if it is there at all.
    pub(super) fn nearby(method: Method, url: Url, timeout: Duration) -> Self {
        Self {
            open_timeout: timeout,
            timeout,
            direct: true,
            ..Self::new(method, url)
        }
    }

    /// A form.
    pub(super) fn form(mut self, pairs: &[(&str, &str)]) -> Self {
        self.headers.insert(
            CONTENT_TYPE,
            HeaderValue::from_static("application/x-www-form-urlencoded; charset=utf-8"),
        );
        self.body = encode_form(pairs).into();
        self
    }

    /// Adds a header that no log shows.
    ///
    /// # Errors
    /// [`ErrorKind::Credential`] for what no header can carry; `what` names it.
    pub(super) fn header(mut self, name: &'static str, value: &Secret, what: &str) -> Result<Self> {
        let mut value = HeaderValue::from_str(value.expose()).map_err(|_| {
            unusable(format!(
                "{what} contains characters that a header cannot carry, such as a line break"
            ))
        })?;
        value.set_sensitive(true);
        self.headers.insert(HeaderName::from_static(name), value);
        Ok(self)
    }

    /// Sends it once.
    ///
    /// # Errors
    /// [`ErrorKind::Http`] when no answer comes.
    pub(super) async fn once(self) -> Result<Reply> {
        let exchange = Exchange {
            method: self.method,
            url: self.url,
            headers: self.headers,
            body: self.body,
            open_timeout: self.open_timeout,
            timeout: self.timeout,
            direct: self.direct,
        };
        exchange.send(None).await
    }

    /// Sends it, and again when the service is busy or away.
    ///
    /// # Errors
    /// As [`once`](Self::once).
    pub(super) async fn send(self) -> Result<Reply> {
        let mut attempt = 1;
        loop {
            let sent = self.clone().once().await;
            let again = match &sent {
                Ok(reply) => may_pass(reply.status),
                Err(error) => error.retry() != Retry::Never,
            };
            if !again || attempt == ATTEMPTS {
                return sent;
            }
            let pause = PAUSE * 2_u32.pow(attempt - 1);
            sleep(pause.mul_f64(0.5 + fastrand::f64() / 2.0)).await;
            attempt += 1;
        }
    }
}

fn may_pass(status: u16) -> bool {
    matches!(status, 408 | 429 | 500 | 502 | 503 | 504)
}

/// `pairs` as the body of a form.
fn encode_form(pairs: &[(&str, &str)]) -> String {
    let Ok(mut url) = Url::parse("form:") else {
        return String::new();
    };
    url.query_pairs_mut().extend_pairs(pairs);
    url.query().unwrap_or_default().to_owned()
}

/// The JSON of a successful answer of `service`.
///
/// # Errors
/// What the service said, without `secrets`.
pub(super) fn json(service: &str, reply: &Reply, secrets: &[&Secret]) -> Result<Value> {
    let parsed = serde_json::from_slice(&reply.body);
    if !(200..300).contains(&reply.status) {
        let said = parsed.ok().and_then(|body| explanation(&body));
        return Err(refused(service, reply.status, said.as_deref(), secrets));
    }
    // The problem is not repeated, because it may quote the answer.
    parsed.map_err(|_| unusable(format!("{service} answered no JSON")))
}

/// What the documented shapes of a failure say.
fn explanation(body: &Value) -> Option<String> {
    let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str);
    let code = text("/error")
        .or_else(|| text("/Code"))
        .or_else(|| text("/code"));
    let message = text("/error_description")
        .or_else(|| text("/error/message"))
        .or_else(|| text("/Message"))
        .or_else(|| text("/message"));
    let parts: Vec<&str> = code.into_iter().chain(message).collect();
    (!parts.is_empty()).then(|| parts.join(": "))
}

/// The error for a `status` that is no success.
pub(super) fn refused(
    service: &str,
    status: u16,
    said: Option<&str>,
    secrets: &[&Secret],
) -> Error {
    let mut message = format!("{service} answered HTTP {status}");
    if let Some(said) = said {
        message.push_str(": ");
        message.push_str(&shorten(said.trim().trim_end_matches('.'), MAX_EXPLANATION));
    }
    for secret in secrets {
        if let Some(redacted) = secret.redact(&message) {
            message = redacted;
        }
    }
    let (kind, retry) = if may_pass(status) {
        (ErrorKind::Http, Retry::Backoff)
    } else {
        (ErrorKind::Credential, Retry::Never)
    };
    Error::new(kind, message)
        .with_http(Some(status), None)
        .with_retry(retry)
}

/// The address of a service that secrets are sent to; `setting` says where it was written.
///
/// # Errors
/// [`ErrorKind::Credential`] for what is no URL, or would send secrets in the clear off this
/// machine.
pub(super) fn safe_url(setting: &str, text: &str) -> Result<Url> {
    let url = http_url(setting, text)?;
    if url.scheme() == "http" && !is_loopback(&url) {
        return Err(unusable(format!(
            "{setting} uses plain http to {}, which sends secrets in the clear: use https",
            url.host_str().unwrap_or_default()
        )));
    }
    Ok(url)
}

/// Any address; `setting` says where it was written.
///
/// # Errors
/// [`ErrorKind::Credential`] for what is no URL.
pub(super) fn http_url(setting: &str, text: &str) -> Result<Url> {
    Url::parse(text.trim())
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| {
            unusable(format!(
                "{setting} is not a URL such as \"https://example.com\""
            ))
        })
}

/// Whether `url` leads to this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    match address(url) {
        Some(address) => address.to_canonical().is_loopback(),
        None => url.host_str().is_some_and(|host| {
            let name = host.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }),
    }
}

/// The address in `url`, unless it has a name.
pub(super) fn address(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    host.trim_start_matches('[')
        .trim_end_matches(']')
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_only_sent_where_nobody_listens() {
        for url in [
            "https://sts.example.test",
            "http://127.0.0.1:1/x",
            "http://[::1]:1",
            "http://localhost:4566",
        ] {
            assert!(safe_url("AWS_ENDPOINT_URL_STS", url).is_ok(), "{url}");
        }
        for url in [
            "http://sts.example.test",
            "http://10.0.0.1/",
            "ftp://a.test",
            "sts",
            "",
        ] {
            let error = safe_url("AWS_ENDPOINT_URL_STS", url).unwrap_err();
            assert!(error.message().contains("AWS_ENDPOINT_URL_STS"), "{error}");
        }
    }

    #[test]
    fn forms_are_encoded() {
        assert_eq!(
            encode_form(&[("a", "b c&d"), ("e", "é/:=")]),
            "a=b+c%26d&e=%C3%A9%2F%3A%3D"
        );
    }

    #[test]
    fn what_a_service_repeats_is_taken_out() {
        let secret = Secret::new("hush-hush");
        let reply = Reply {
            status: 400,
            headers: HeaderMap::new(),
            body: br#"{"error":"invalid_grant","error_description":"Bad hush-hush."}"#.to_vec(),
        };
        let error = json("the service", &reply, &[&secret]).unwrap_err();
        assert_eq!(
            error.message(),
            "the service answered HTTP 400: invalid_grant: Bad [redacted]"
        );
        assert_eq!(
            (error.kind(), error.status()),
            (ErrorKind::Credential, Some(400))
        );
    }
}
