//! Tests of the format.

mod request;
mod settings;
mod stream;
mod streams;
