//! The Responses format.

mod event;
mod items;
mod quirks;
mod request;
mod response;
mod stream;
#[cfg(test)]
mod tests;

pub(crate) use quirks::Quirks;
pub(crate) use request::render_request;
pub(crate) use stream::ResponsesDecoder;

/// The path under the base URL.
pub(crate) const PATH: &str = "responses";
