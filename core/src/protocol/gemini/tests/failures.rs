use std::time::Duration;

use serde_json::json;

use super::{decode, end, parts};
use crate::error::{ErrorKind, Retry};

#[test]
fn answers_of_no_use_are_errors_that_say_why() {
    for (reason, kind, retry) in [
        (
            "MALFORMED_FUNCTION_CALL",
            ErrorKind::MalformedToolCall,
            Retry::Never,
        ),
        (
            "UNEXPECTED_TOOL_CALL",
            ErrorKind::MalformedToolCall,
            Retry::Never,
        ),
        ("MALFORMED_RESPONSE", ErrorKind::Protocol, Retry::Backoff),
        (
            "MISSING_THOUGHT_SIGNATURE",
            ErrorKind::Provider,
            Retry::Never,
        ),
    ] {
        let mut last = end(reason);
        last["candidates"][0]["finishMessage"] = json!("print(1)");
        let error = decode(&[last]).outcome.unwrap_err();
        assert_eq!((error.kind(), error.retry()), (kind, retry), "{reason}");
        assert!(error.message().contains(reason), "{error}");
        assert!(error.message().ends_with("print(1)"), "{error}");
    }
}

#[test]
fn calls_that_cannot_be_run_are_errors() {
    for (call, expected) in [
        (json!({"args": {}}), "without naming"),
        (json!({"name": "f", "args": [1]}), "not an array"),
        (json!({"name": "f", "args": "{"}), "not valid JSON"),
        (json!({"name": "f", "args": 3}), "not a number"),
    ] {
        let decoded = decode(&[parts(json!([{"functionCall": call}])), end("STOP")]);
        let error = decoded.outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::MalformedToolCall);
        assert!(error.message().contains(expected), "{error}");
    }
}

#[test]
fn an_error_in_the_stream_may_say_when_to_come_back() {
    let asks = json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2.5s"}]);
    for (error, code, retry) in [
        (
            json!({"code": 503, "message": "Overloaded.", "status": "UNAVAILABLE"}),
            Some("503"),
            Retry::Backoff,
        ),
        (
            json!({"code": 429, "status": "RESOURCE_EXHAUSTED", "details": asks.clone()}),
            Some("429"),
            Retry::After(Duration::from_millis(2_500)),
        ),
        (
            json!({"status": "UNAVAILABLE"}),
            Some("UNAVAILABLE"),
            Retry::Backoff,
        ),
        (
            json!({"code": 400, "status": "INVALID_ARGUMENT", "details": asks}),
            Some("400"),
            Retry::Never,
        ),
        (
            json!({"code": 403, "status": "PERMISSION_DENIED"}),
            Some("403"),
            Retry::Never,
        ),
    ] {
        let decoded = decode(&[parts(json!([{"text": "so far"}])), json!({"error": error})]);
        let failure = decoded.outcome.unwrap_err();
        assert_eq!(failure.kind(), ErrorKind::Provider);
        assert_eq!(failure.code(), code);
        assert_eq!(failure.retry(), retry, "{error}");
    }
    let long = json!({"error": {"code": 400, "message": "The input token count (1200000) exceeds \
        the maximum number of tokens allowed (1048576)."}});
    let failure = decode(&[long]).outcome.unwrap_err();
    assert_eq!(failure.kind(), ErrorKind::ContextWindowOverflow);
}
