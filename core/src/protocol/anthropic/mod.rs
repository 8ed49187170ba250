//! Anthropic's Messages format.

mod attachment;
mod block;
mod cache;
mod content;
mod event;
mod request;
mod response;
mod settings;
mod stream;
#[cfg(test)]
mod tests;
mod thinking;
mod tools;
mod turns;

pub(crate) use request::render_request;
pub(crate) use stream::MessagesDecoder;
pub(crate) use thinking::Thinking;

/// The path under the base URL.
pub(crate) const PATH: &str = "messages";
