//! The Converse format of Amazon Bedrock.

use std::fmt::Write as _;

mod attachments;
mod blocks;
mod cache;
mod content;
mod event;
pub(crate) mod exception;
mod family;
mod request;
mod response;
mod settings;
mod stream;
#[cfg(test)]
mod tests;
mod tools;
mod turns;

pub(crate) use request::render_request;
pub(crate) use stream::ConverseDecoder;

/// The path of a streamed request to `model` under the endpoint.
pub(crate) fn path(model: &str) -> String {
    let mut path = String::from("model/");
    for byte in model.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                path.push(char::from(byte));
            }
            _ => {
                let _ = write!(path, "%{byte:02X}");
            }
        }
    }
    path.push_str("/converse-stream");
    path
}
