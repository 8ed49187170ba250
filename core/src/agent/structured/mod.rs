//! Structured results: a checked JSON object instead of prose.
//!
//! A [`ResultSchema`] is what an application declares. Bound to a model it becomes a
//! [`Structured`](shaping::Structured), which shapes requests, judges responses and decides what consumers may see.

mod close;
mod declaration;
mod evaluation;
mod keywords;
mod redaction;
mod repair;
mod shaping;
mod strategy;
mod terms;
mod value_limits;

#[cfg(feature = "fuzzing")]
pub(crate) use evaluation::written_result;

pub use declaration::ResultSchema;
pub use strategy::ResultStrategy;
