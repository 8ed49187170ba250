//! A fuzzer without coverage: it changes recorded answers and written documents in ways that matter to
//! their readers, and keeps what leads to outcomes that it has not seen.
//!
//! `cargo run -p fuzz -- --seconds 300` gives each target five minutes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a panic is how a test fails"
)]

pub mod campaign;
pub mod corpus;
mod eventstream;
mod json;
mod mutation;
mod server_sent;

pub use mutation::mutate;
