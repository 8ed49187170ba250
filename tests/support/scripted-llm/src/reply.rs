//! Complete JSON answers: the control API's, and refusals.

use serde_json::{Value, json};

/// A status and the JSON that goes with it.
#[derive(Debug)]
pub(crate) struct Reply {
    status: u16,
    body: Value,
}

impl Reply {
    pub(crate) fn new(status: u16, body: Value) -> Self {
        Self { status, body }
    }

    /// An error in the shape of the vendors' error bodies, so that a client
    /// under test shows the message of a script that does not fit.
    pub(crate) fn error(status: u16, code: &str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self::new(
            status,
            json!({"error": {"message": message, "type": "scripted_llm", "code": code}}),
        )
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let body = self.body.to_string();
        format!(
            "HTTP/1.1 {} {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.status,
            reason(self.status),
            body.len(),
        )
        .into_bytes()
    }
}

/// The standard phrase for a status code.
pub(crate) fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        413 => "Content Too Large",
        422 => "Unprocessable Content",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        529 => "Overloaded",
        _ => "Scripted",
    }
}
