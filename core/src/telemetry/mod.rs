//! What the engine tells about its work: operations that begin and end, points in between, and notices.
//!
//! An application registers [`Subscriber`]s on its [`Runtime`](crate::Runtime). Each operation carries its
//! `operation_id`, that of what it is a part of, and at its end `duration_ms`. Everything in a run
//! carries `run_id`, `invocation_id`, `session_id` and `agent_id`.
//!
//! | operation | is |
//! | --- | --- |
//! | `run` | one run, from its start to the closing of its resources |
//! | `agent` | one invocation of an agent |
//! | `agent_turn` | one round of it: a model call, and the tool calls that it asked for |
//! | `model` | one request to a model, retries included |
//! | `tool` | one tool call |
//!
//! What users and models wrote is left out unless a [`ContentCapture`](crate::support::ContentCapture) policy
//! lets it in.

mod bus;
mod listeners;
mod operation;
mod subscriber;
#[cfg(test)]
mod tests;

pub use crate::run::{Notice, NoticeLevel};
pub use bus::Telemetry;
pub use operation::Operation;
pub use subscriber::Subscriber;

pub(crate) use bus::TelemetrySettings;
