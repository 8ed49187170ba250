//! Failures of the network and of HTTP, in words that say what to check.

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use reqwest::header::{HeaderMap, LOCATION};
use serde_json::Value;

use super::endpoint::Endpoint;
use super::retry;
use crate::error::{Error, ErrorKind, Retry};

/// Characters of a provider's own explanation that are repeated in our message.
const MAX_EXPLANATION: usize = 500;

/// A request that got no answer, or an answer that broke off.
pub(super) fn network(problem: reqwest::Error, endpoint: &Endpoint, open: Duration) -> Error {
    let address = endpoint.address();
    let name = endpoint.connection();
    let problem = problem.without_url();
    let check = format!("check {} of connection {name:?}", endpoint.location());
    let message = if problem.is_connect() && problem.is_timeout() {
        format!(
            "cannot connect to {address}: no answer within {} s (open_timeout); {check}, the \
             network and proxy settings",
            open.as_secs_f64()
        )
    } else {
        let (what, advice) = match cause(&problem) {
            Cause::Refused => (
                "connection refused".to_owned(),
                format!("is the server running? {check}"),
            ),
            Cause::Dns => (
                "the host name cannot be resolved (DNS)".to_owned(),
                format!("{check} and the network"),
            ),
            Cause::Tls(tls) => (format!("TLS failed: {tls}"), tls_advice(&tls, &check)),
            Cause::NotHttp => (
                "the answer is not HTTP".to_owned(),
                format!("does this endpoint expect https? {check}"),
            ),
            Cause::Closed => (CLOSED.to_owned(), closed_advice(endpoint, &check)),
            Cause::Proxy => (
                "the proxy refused to open a tunnel".to_owned(),
                "check HTTPS_PROXY, ALL_PROXY and NO_PROXY".to_owned(),
            ),
            Cause::Other(text) => (text, format!("{check}, the network and proxy settings")),
        };
        if problem.is_connect() {
            format!("cannot connect to {address}: {what}; {advice}")
        } else {
            format!("the request to {address} failed: {what}; {advice}")
        }
    };
    Error::new(ErrorKind::Http, message)
        .with_retry(Retry::Backoff)
        .with_source(problem)
}

/// A request without a connection of the application, such as one for credentials, that got no answer.
pub(super) fn plain(problem: reqwest::Error, address: &str) -> Error {
    let problem = problem.without_url();
    let what = if problem.is_timeout() {
        "no answer in time".to_owned()
    } else {
        match cause(&problem) {
            Cause::Refused => "connection refused".to_owned(),
            Cause::Dns => "the host name cannot be resolved (DNS)".to_owned(),
            Cause::Tls(tls) => format!("TLS failed: {tls}"),
            Cause::NotHttp => "the answer is not HTTP".to_owned(),
            Cause::Closed => CLOSED.to_owned(),
            Cause::Proxy => "the proxy refused to open a tunnel".to_owned(),
            Cause::Other(text) => text,
        }
    };
    let message = if problem.is_connect() {
        format!("cannot connect to {address}: {what}")
    } else {
        format!("the request to {address} failed: {what}")
    };
    Error::new(ErrorKind::Http, message)
        .with_retry(Retry::Backoff)
        .with_source(problem)
}

/// What is said of a connection that did not last.
const CLOSED: &str = "the connection was closed before the answer was complete";

fn closed_advice(endpoint: &Endpoint, check: &str) -> String {
    if endpoint.url().scheme() == "http" {
        format!("usually temporary, unless this endpoint expects https; {check}")
    } else {
        "usually temporary".to_owned()
    }
}

/// A connection that closed before the answer was complete, without a socket that did.
#[cfg(feature = "testing")]
pub(crate) fn closed(endpoint: &Endpoint) -> Error {
    let check = format!(
        "check {} of connection {:?}",
        endpoint.location(),
        endpoint.connection()
    );
    let message = format!(
        "the request to {} failed: {CLOSED}; {}",
        endpoint.address(),
        closed_advice(endpoint, &check)
    );
    Error::new(ErrorKind::Http, message).with_retry(Retry::Backoff)
}

/// Silence for longer than `limit`.
pub(super) fn idle(endpoint: &Endpoint, limit: Duration) -> Error {
    Error::new(
        ErrorKind::Http,
        format!(
            "{} sent nothing for {} s; raise read_timeout of connection {:?} if the model needs \
             longer",
            endpoint.address(),
            limit.as_secs_f64(),
            endpoint.connection()
        ),
    )
    .with_retry(Retry::Backoff)
}

/// More bytes than `max_response_bytes`.
pub(super) fn too_large(endpoint: &Endpoint, limit: u64) -> Error {
    Error::new(
        ErrorKind::Protocol,
        format!(
            "the response of {} is larger than {limit} bytes (max_response_bytes of connection \
             {:?})",
            endpoint.address(),
            endpoint.connection()
        ),
    )
}

/// A successful answer that is neither an event stream nor a model's JSON.
pub(super) fn wrong_type(endpoint: &Endpoint, media_type: &str) -> Error {
    let what = match media_type {
        "" => "without a content type".to_owned(),
        "application/json" => "with JSON that is no model response".to_owned(),
        other => format!("with {}", shorten(other, 100)),
    };
    let api = if endpoint.has_choice_of_format() {
        " and api"
    } else {
        ""
    };
    Error::new(
        ErrorKind::Protocol,
        format!(
            "{} answered {what} instead of an event stream; check {}{api} of connection {:?} ({})",
            endpoint.address(),
            endpoint.location(),
            endpoint.connection(),
            endpoint.url().path()
        ),
    )
}

/// An answer whose status is not a success.
pub(super) fn status(endpoint: &Endpoint, status: u16, headers: &HeaderMap, body: &str) -> Error {
    let mut message = format!("{} answered HTTP {status}", endpoint.address());
    if let Some(explanation) = explanation(body) {
        message.push_str(": ");
        message.push_str(explanation.trim_end_matches('.'));
    }
    let name = endpoint.connection();
    let advice = match status {
        300..=399 => {
            let target = headers.get(LOCATION).and_then(|value| value.to_str().ok());
            Some(format!(
                "redirects are not followed: set {} of connection {name:?} to the final address{}",
                endpoint.location(),
                target.map_or_else(String::new, |target| format!(" ({})", origin(target)))
            ))
        }
        401 | 403 if exception(headers).is_some() => Some(format!(
            "check the AWS credentials of connection {name:?}, what they permit, and that the account \
             has access to the model"
        )),
        // Google's services call a wrong key a bad request.
        400 if !body.contains("API_KEY_INVALID") => None,
        400 | 401 | 403 => Some(format!("check {} of connection {name:?}", endpoint.proof())),
        404 if exception(headers).is_some() => Some(format!(
            "check the model name, and the region of connection {name:?}"
        )),
        404 => Some(format!(
            "check the model name, and {} of connection {name:?} ({})",
            endpoint.location(),
            endpoint.url().path()
        )),
        _ => None,
    };
    if let Some(advice) = advice {
        message.push_str("; ");
        message.push_str(&advice);
    }
    let error = Error::new(ErrorKind::Http, message)
        .with_http(Some(status), Some(body.to_owned()))
        .with_retry(retry::for_status(status, headers));
    match exception(headers) {
        Some(name) => error.with_code(name),
        None => error,
    }
}

/// The name that services of AWS give to a failure.
fn exception(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get("x-amzn-errortype")?.to_str().ok()?;
    let name = value.split(':').next()?.rsplit('#').next()?.trim();
    let is_name = (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphabetic());
    is_name.then_some(name)
}

/// A URL without what may be secret: its query, fragment and user part.
fn origin(url: &str) -> String {
    match reqwest::Url::parse(url) {
        Ok(url) => format!(
            "{}://{}{}{}",
            url.scheme(),
            url.host_str().unwrap_or_default(),
            url.port()
                .map(|port| format!(":{port}"))
                .unwrap_or_default(),
            url.path()
        ),
        Err(_) => url.split(['?', '#']).next().unwrap_or_default().to_owned(),
    }
}

/// The provider's own words in a JSON error body, cut to a readable length.
pub(super) fn explanation(body: &str) -> Option<String> {
    let value: Value = serde_json::from_str(body).ok()?;
    // Some gateways wrap the error object in an array.
    let value = match &value {
        Value::Array(items) => items.first()?,
        other => other,
    };
    let candidates = [
        value.pointer("/error/message"),
        value.get("error"),
        value.get("message"),
        value.get("Message"),
        value.get("detail"),
        value.pointer("/detail/0/msg"),
    ];
    let text = candidates
        .into_iter()
        .flatten()
        .find_map(Value::as_str)?
        .trim();
    if text.is_empty() {
        return None;
    }
    Some(shorten(text, MAX_EXPLANATION))
}

/// At most `limit` characters of `text`, on one line.
pub(crate) fn shorten(text: &str, limit: usize) -> String {
    let mut short: String = text
        .chars()
        .take(limit)
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    if text.chars().nth(limit).is_some() {
        short.push('…');
    }
    short
}

fn tls_advice(problem: &str, check: &str) -> String {
    if problem.contains("certificate authorities") {
        return "see above".to_owned();
    }
    if problem.contains("corrupt message") {
        return format!("is this endpoint https? {check}");
    }
    if problem.contains("UnknownIssuer") {
        return format!(
            "{check}; for a private certificate authority set SSL_CERT_FILE to its PEM file"
        );
    }
    check.to_owned()
}

enum Cause {
    Refused,
    Dns,
    Tls(String),
    NotHttp,
    Closed,
    Proxy,
    Other(String),
}

/// The root of a failure: walks to the deepest source that can be named.
fn cause(problem: &(dyn StdError + 'static)) -> Cause {
    let mut current = Some(problem);
    let mut deepest = problem.to_string();
    while let Some(error) = current {
        if let Some(found) = named(error) {
            return found;
        }
        deepest = error.to_string();
        current = error.source();
    }
    Cause::Other(deepest)
}

fn named(error: &(dyn StdError + 'static)) -> Option<Cause> {
    if let Some(tls) = error.downcast_ref::<rustls::Error>() {
        return Some(Cause::Tls(match tls {
            rustls::Error::General(text) => text.clone(),
            other => other.to_string(),
        }));
    }
    if let Some(io) = error.downcast_ref::<io::Error>() {
        // An io::Error hides what it wraps from the source chain.
        if let Some(inner) = io.get_ref()
            && let Some(found) = named(inner)
        {
            return Some(found);
        }
        return match io.kind() {
            io::ErrorKind::ConnectionRefused => Some(Cause::Refused),
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::UnexpectedEof => Some(Cause::Closed),
            _ => None,
        };
    }
    // These come from crates whose error types are not public.
    let text = error.to_string();
    if text.contains("dns error") || text.contains("failed to lookup address") {
        return Some(Cause::Dns);
    }
    if text.contains("invalid HTTP") || text.contains("unexpected message") {
        return Some(Cause::NotHttp);
    }
    if text.contains("tunnel error") {
        return Some(Cause::Proxy);
    }
    if text.contains("message completed") || text.contains("connection closed") {
        return Some(Cause::Closed);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint() -> Endpoint {
        Endpoint::new("primary", "https://a.test/v1", "responses", false).unwrap()
    }

    #[test]
    fn explanations_are_found_in_every_dialect() {
        for (body, expected) in [
            (
                r#"{"error":{"message":"no such model"}}"#,
                Some("no such model"),
            ),
            (r#"[{"error":{"message":"quota"}}]"#, Some("quota")),
            (r#"{"error":"model not found"}"#, Some("model not found")),
            (r#"{"message":"denied"}"#, Some("denied")),
            (r#"{"detail":"Not Found"}"#, Some("Not Found")),
            (
                r#"{"detail":[{"msg":"field required"}]}"#,
                Some("field required"),
            ),
            (r#"{"error":{"message":" "}}"#, None),
            (r#"{"error":{}}"#, None),
            ("<html>Bad gateway</html>", None),
            ("", None),
        ] {
            assert_eq!(explanation(body).as_deref(), expected, "{body}");
        }
        let long = format!(r#"{{"error":"{}"}}"#, "é".repeat(900));
        assert_eq!(
            explanation(&long).unwrap().chars().count(),
            MAX_EXPLANATION + 1
        );
    }

    #[test]
    fn statuses_say_what_to_check() {
        let headers = HeaderMap::new();
        let body = r#"{"error":{"message":"Incorrect key."}}"#;
        let error = status(&endpoint(), 401, &headers, body);
        assert_eq!(
            error.message(),
            "a.test:443 answered HTTP 401: Incorrect key; check api_key of connection \"primary\""
        );
        assert_eq!(error.kind(), ErrorKind::Http);
        assert_eq!(error.status(), Some(401));
        assert_eq!(error.body(), Some(body));
        assert_eq!(error.retry(), Retry::Never);
        let mut headers = HeaderMap::new();
        headers.insert(LOCATION, "https://b.test/v1?token=hush".parse().unwrap());
        let error = status(&endpoint(), 308, &headers, "");
        assert!(error.message().contains("(https://b.test/v1)"), "{error}");
        assert!(!error.message().contains("hush"));
        headers.insert(
            LOCATION,
            "http://b.test:8080/v1?token=hush".parse().unwrap(),
        );
        let error = status(&endpoint(), 308, &headers, "");
        assert!(
            error.message().contains("(http://b.test:8080/v1)"),
            "{error}"
        );
    }

    #[test]
    fn messages_name_the_option_that_says_where_a_connection_is() {
        let headers = HeaderMap::new();
        let other = Endpoint::named("endpoint", "primary", "https://a.test", "x", false).unwrap();
        for error in [
            status(&other, 404, &headers, ""),
            status(&other, 307, &headers, ""),
            wrong_type(&other, "text/html"),
            Endpoint::named("endpoint", "primary", "nowhere", "x", false).unwrap_err(),
        ] {
            let message = error.message();
            assert!(message.contains("endpoint of connection"), "{message}");
            assert!(!message.contains("base_url"), "{message}");
            assert!(!message.contains("api of"), "{message}");
        }
        let message = wrong_type(&endpoint(), "text/html").message().to_owned();
        assert!(
            message.contains("check base_url of connection"),
            "{message}"
        );
        let message = wrong_type(&endpoint().with_choice_of_format(), "text/html")
            .message()
            .to_owned();
        assert!(
            message.contains("check base_url and api of connection"),
            "{message}"
        );
    }
}
