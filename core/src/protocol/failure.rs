//! What providers say when a request fails, in a body or in the middle of a stream.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::{Error, ErrorKind, Result, Retry};
use crate::http::shorten;
use crate::model::StopReason;
use crate::protocol::converse;

/// Characters of a provider's message that ours repeats.
const MAX_MESSAGE: usize = 500;

/// Phrases with which providers say that a request is too long for the model.
const OVERFLOW_MARKS: &[&str] = &[
    "context_length_exceeded",
    "context window",
    "maximum context length",
    "max context length",
    "input is too long",
    "too many input tokens",
    // Anthropic, of a prompt and of a prompt together with max_tokens.
    "prompt is too long",
    "exceed context limit",
    // Bedrock, of models of Amazon and others.
    "input tokens exceeds",
    "input tokens exceeded",
    // Local servers: llama.cpp says both.
    "exceed_context_size",
    "available context size",
    // Google's services.
    "input token count",
    "exceeds the maximum number of tokens",
];

/// OpenAI's code for a quota that is used up.
const SPENT: &str = "insufficient_quota";

/// Error types and codes of a passing condition. Only these are shown in events, because a
/// provider may put anything into the field.
const PASSING: &[&str] = &[
    "provider_overloaded",
    "provider_unavailable",
    "rate_limit_exceeded",
    "server",
    "timeout",
    "server_error",
    "RESOURCE_EXHAUSTED",
    "UNAVAILABLE",
    "INTERNAL",
    "DEADLINE_EXCEEDED",
    // Anthropic.
    "overloaded_error",
    "rate_limit_error",
    "api_error",
    "timeout_error",
];

/// Whether `text` says that the request exceeds the context window.
pub(crate) fn is_overflow(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    OVERFLOW_MARKS.iter().any(|mark| text.contains(mark))
}

/// The pause that a Google service asks for in the details of an error.
fn asked_pause(error: &Value) -> Option<Duration> {
    let details = error.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| {
        let kind = detail.get("@type")?.as_str()?;
        kind.ends_with("google.rpc.RetryInfo").then_some(())?;
        detail.get("retryDelay")?.as_str()
    })?;
    let seconds: f64 = delay.trim().strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Reads from the body of an HTTP failure what its status does not say: that the request exceeds the
/// context window, and when to come back.
pub(crate) fn classify_http(error: Error) -> Error {
    let error = converse::exception::classify(with_asked_pause(error));
    // A quota that is used up is answered like a rate limit, but no pause fills it again.
    if error.status() == Some(429) && error.body().is_some_and(|body| body.contains(SPENT)) {
        return error.with_retry(Retry::Never);
    }
    let rejected = matches!(error.status(), Some(400 | 413 | 422));
    if !rejected || !error.body().is_some_and(is_overflow) {
        return error;
    }
    Error::new(ErrorKind::ContextWindowOverflow, error.message())
        .with_http(error.status(), error.body().map(str::to_owned))
}

/// A header that asks for a pause goes over what the body asks for.
fn with_asked_pause(error: Error) -> Error {
    if error.retry() != Retry::Backoff {
        return error;
    }
    let body = error
        .body()
        .filter(|body| body.contains("google.rpc.RetryInfo"));
    let body: Option<Value> = body.and_then(|body| serde_json::from_str(body).ok());
    let pause = body.as_ref().and_then(|body| {
        let body = body.get(0).unwrap_or(body);
        asked_pause(body.get("error")?)
    });
    match pause {
        Some(pause) => error.with_retry(Retry::After(pause)),
        None => error,
    }
}

/// The error that an error object in a stream stands for.
pub(super) fn in_stream(error: &Value) -> Error {
    let text = |pointer: &str| error.pointer(pointer).and_then(Value::as_str);
    let kind = text("/metadata/error_type")
        .or_else(|| text("/type"))
        .or_else(|| text("/status"));
    let (code, number) = match error.get("code") {
        Some(Value::String(code)) => (Some(code.clone()), code.parse().ok()),
        Some(Value::Number(number)) => (Some(number.to_string()), number.as_u64()),
        _ => (None, None),
    };
    let message = error
        .as_str()
        .or_else(|| text("/message"))
        .map(str::trim)
        .filter(|message| !message.is_empty());
    let shown = match (message, code.as_deref().or(kind)) {
        (Some(message), _) => shorten(message, MAX_MESSAGE),
        (None, Some(code)) => shorten(code, 100),
        (None, None) => "no reason given".to_owned(),
    };
    let overflow = [message, kind, code.as_deref()]
        .into_iter()
        .flatten()
        .any(is_overflow);
    if overflow {
        return Error::new(
            ErrorKind::ContextWindowOverflow,
            format!("the request does not fit the model's context window: {shown}"),
        );
    }
    let passing = kind.is_some_and(|kind| PASSING.contains(&kind))
        || code.as_deref() == Some("server_error")
        || code.as_deref() == Some("rate_limit_exceeded")
        || matches!(number, Some(408 | 429 | 500..=599));
    let failure = Error::new(
        ErrorKind::Provider,
        format!("the provider reported an error: {shown}"),
    )
    .with_retry(match asked_pause(error) {
        _ if !passing => Retry::Never,
        Some(pause) => Retry::After(pause),
        None => Retry::Backoff,
    });
    let safe = code
        .filter(|code| number.is_some() || PASSING.contains(&code.as_str()))
        .or_else(|| {
            kind.filter(|kind| PASSING.contains(kind))
                .map(str::to_owned)
        });
    match safe {
        Some(code) => failure.with_code(code),
        None => failure,
    }
}

/// Adds the likely reason to a complaint about a tool call in an answer that hit a token limit.
pub(super) fn explain_cut(error: Error, stop_reason: &StopReason) -> Error {
    if !stop_reason.is_output_limit() {
        return error;
    }
    let message = format!(
        "{}; the model's output limit cut the response, so raise max_tokens or ask for less",
        error.message()
    );
    error
        .with_message(message)
        .with_data(json!({"output_limit": true}))
}

/// The answer ended before the provider said that it was complete.
pub(super) fn broken_off() -> Error {
    Error::new(
        ErrorKind::Protocol,
        "the response broke off before the provider marked its end",
    )
    .with_retry(Retry::Backoff)
}

/// Parses a frame into `T`, by way of a generic value when it is unusual.
///
/// The direct way refuses documents that are odd but clear: with a repeated key, or with a
/// character that a service cut in two.
pub(super) fn parse<'a, T: Deserialize<'a>>(
    data: &'a [u8],
    slow: &'a mut Option<Value>,
) -> Result<T> {
    // Checked once for the whole frame, which is cheaper than for each string in it. Derived
    // structures would also accept a list of their fields.
    if data.first() == Some(&b'{')
        && let Ok(text) = std::str::from_utf8(data)
        && let Ok(parsed) = serde_json::from_str(text)
    {
        return Ok(parsed);
    }
    let value: Value = serde_json::from_str(&String::from_utf8_lossy(data))
        .map_err(|problem| unexpected(data, &format!("is not valid JSON: {problem}")))?;
    if !value.is_object() {
        return Err(unexpected(data, "is not a JSON object"));
    }
    let value: &'a Value = slow.insert(value);
    T::deserialize(value)
        .map_err(|problem| unexpected(data, &format!("has an unexpected shape: {problem}")))
}

fn unexpected(data: &[u8], problem: &str) -> Error {
    Error::new(
        ErrorKind::Protocol,
        format!(
            "an event of the provider {problem}; it begins with {:?}",
            shorten(&String::from_utf8_lossy(data), 100)
        ),
    )
}
