//! Exceptions of the service, in a stream and as HTTP answers.

use serde_json::Value;

use crate::error::{Error, ErrorKind, Retry};
use crate::http::shorten;
use crate::protocol::failure::is_overflow;

/// Characters of the service's message that ours repeats.
const MAX_MESSAGE: usize = 500;

/// The service's exceptions as codes, and whether the same request may succeed later.
const KNOWN: [(&str, bool); 11] = [
    ("throttling_exception", true),
    ("internal_server_exception", true),
    // What a failure without a type of its own is mostly called.
    ("internal_failure_exception", true),
    ("service_unavailable_exception", true),
    ("model_stream_error_exception", true),
    ("model_timeout_exception", true),
    ("model_not_ready_exception", true),
    ("model_error_exception", false),
    ("validation_exception", false),
    ("access_denied_exception", false),
    ("resource_not_found_exception", false),
];

/// The error for the exception `name` in the middle of an answer.
pub(super) fn in_stream(name: &str, payload: &Value) -> Error {
    let known = known(name);
    let message = message(payload);
    if message.as_deref().is_some_and(is_overflow) {
        return Error::new(
            ErrorKind::ContextWindowOverflow,
            format!(
                "the request does not fit the model's context window: {}",
                message.unwrap_or_default()
            ),
        );
    }
    let shown = match (message, known) {
        (Some(message), _) => message,
        (None, Some((code, _))) => code.replace('_', " "),
        (None, None) => "no reason given".to_owned(),
    };
    let error = Error::new(
        ErrorKind::Provider,
        format!("the provider reported an error: {shown}"),
    );
    match known {
        Some((code, true)) => error.with_code(code).with_retry(Retry::Backoff),
        Some((code, false)) => error.with_code(code),
        None if is_name(name) => error.with_code(code(name)),
        None => error,
    }
}

/// Whether `name` may be shown: names of exceptions are words.
fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// `throttling_exception` for `throttlingException`.
fn code(name: &str) -> String {
    let mut code = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !code.is_empty() {
            code.push('_');
        }
        code.push(letter.to_ascii_lowercase());
    }
    code
}

/// An HTTP failure with the code of the exception that it is, which also says whether to try again:
/// some endpoints answer 400 when they throttle. Other failures are left as they are.
pub(crate) fn classify(error: Error) -> Error {
    let named = error.code().map(str::to_owned).or_else(|| {
        let body: Value = serde_json::from_str(error.body()?).ok()?;
        Some(body.get("__type")?.as_str()?.to_owned())
    });
    let Some((code, passes)) = named.as_deref().and_then(known) else {
        return error;
    };
    let error = error.with_code(code);
    if passes && error.retry() == Retry::Never {
        return error.with_retry(Retry::Backoff);
    }
    error
}

/// The code of an exception that is written `throttlingException`, `ThrottlingException` or, with a
/// name space, `com.amazon#ThrottlingException`.
fn known(name: &str) -> Option<(&'static str, bool)> {
    let name = name.rsplit('#').next().unwrap_or_default();
    let name = name.split(':').next().unwrap_or_default().trim();
    KNOWN.iter().copied().find(|(code, _)| {
        let letters = code.bytes().filter(|byte| *byte != b'_');
        letters.eq(name.bytes().map(|byte| byte.to_ascii_lowercase()))
    })
}

fn message(payload: &Value) -> Option<String> {
    let text = |name: &str| {
        let text = payload.get(name).and_then(Value::as_str)?.trim();
        (!text.is_empty()).then(|| shorten(text, MAX_MESSAGE))
    };
    let message = text("message").or_else(|| text("Message"));
    match (message, text("originalMessage")) {
        (Some(message), Some(original)) if message != original => {
            Some(format!("{} ({original})", message.trim_end_matches('.')))
        }
        (message, original) => message.or(original),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_known_however_they_are_written() {
        for name in [
            "throttlingException",
            "ThrottlingException",
            "com.amazon.coral.service#ThrottlingException",
            "ThrottlingException:http://internal.amazon.com/coral/",
        ] {
            assert_eq!(known(name), Some(("throttling_exception", true)), "{name}");
        }
        assert_eq!(known("UnheardOfException"), None);
        assert_eq!(known(""), None);
    }

    #[test]
    fn exceptions_in_a_stream_say_whether_to_try_again() {
        for (code, passes) in KNOWN {
            let name = code.replace('_', "");
            let error = in_stream(&name, &json!({"message": "Oh."}));
            assert_eq!(error.kind(), ErrorKind::Provider);
            assert_eq!(error.code(), Some(code));
            assert_eq!(error.retry() == Retry::Backoff, passes, "{code}");
        }
        let unknown = in_stream("unheardOfException", &json!({}));
        assert_eq!(unknown.code(), Some("unheard_of_exception"));
        assert_eq!(unknown.retry(), Retry::Never);
        assert_eq!(in_stream("hush-hush", &json!({})).code(), None);
        assert!(unknown.message().ends_with("no reason given"));
        let relayed =
            json!({"message": "Failed.", "originalMessage": "Busy", "originalStatusCode": 503});
        let relayed = in_stream("modelStreamErrorException", &relayed);
        assert!(relayed.message().ends_with("Failed (Busy)"), "{relayed}");
        let bare = in_stream("throttlingException", &Value::Null);
        assert!(bare.message().ends_with("throttling exception"), "{bare}");
    }

    #[test]
    fn too_long_a_request_is_told_apart() {
        for message in [
            "Input is too long for requested model.",
            "The model returned the following errors: prompt is too long: 250000 tokens > 200000 maximum",
            "The model returned the following errors: input length and `max_tokens` exceed context limit: 1 + 2 > 2",
            "Too many input tokens. Max input tokens: 8192, request input token count: 12000",
        ] {
            let error = in_stream("validationException", &json!({"message": message}));
            assert_eq!(error.kind(), ErrorKind::ContextWindowOverflow, "{message}");
        }
    }

    #[test]
    fn http_failures_are_named_by_header_or_body() {
        let failure = |status, body: &str| {
            Error::new(ErrorKind::Http, "failed").with_http(Some(status), Some(body.into()))
        };
        let throttled = classify(failure(400, r#"{"__type": "a.b#ThrottlingException"}"#));
        assert_eq!(throttled.code(), Some("throttling_exception"));
        assert_eq!(throttled.retry(), Retry::Backoff);
        let by_header = classify(failure(424, "{}").with_code("ModelErrorException"));
        assert_eq!(by_header.code(), Some("model_error_exception"));
        assert_eq!(by_header.retry(), Retry::Never);
        let asked = failure(429, r#"{"__type": "ThrottlingException"}"#)
            .with_retry(Retry::After(std::time::Duration::from_secs(3)));
        assert_eq!(
            classify(asked).retry(),
            Retry::After(std::time::Duration::from_secs(3))
        );
        for body in [
            "<html>",
            "{}",
            r#"{"__type": 1}"#,
            r#"{"__type": "Strange"}"#,
        ] {
            let other = classify(failure(400, body));
            assert_eq!((other.code(), other.retry()), (None, Retry::Never));
        }
    }
}
