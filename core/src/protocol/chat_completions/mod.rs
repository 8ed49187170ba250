//! The Chat Completions format.

mod calls;
mod chunk;
mod quirks;
mod reasoning;
mod request;
mod response;
mod stream;
#[cfg(test)]
mod tests;

pub(crate) use quirks::{CacheMarker, Quirks, ReasoningField};
pub(crate) use request::render_request;
pub(crate) use stream::ChatDecoder;

/// The path under the base URL.
pub(crate) const PATH: &str = "chat/completions";
