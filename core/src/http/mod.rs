//! HTTP for providers: pooled clients, bounded streaming answers, frames of events and retry pauses.

mod bare_json;
mod client;
mod crc32;
mod endpoint;
mod event_stream;
mod event_stream_headers;
mod exchange;
mod failure;
mod framing;
mod get;
mod post;
mod response;
mod retry;
mod roots;
mod sse;
mod transport;

pub(crate) use endpoint::Endpoint;
pub(crate) use exchange::{Exchange, Reply};
#[cfg(feature = "testing")]
pub(crate) use failure::closed;
pub(crate) use failure::shorten;
pub(crate) use framing::Framing;
pub(crate) use get::Get;
pub(crate) use post::{Limits, Post};
pub(crate) use response::ResponseStream;
pub(crate) use retry::{RetryPolicy, for_status};
pub(crate) use sse::Frame;
pub(crate) use transport::{Answer, Body, Next, Source, Transport, Transports, scope, within};
