//! One top-level execution from start to finish.

mod outbox;
mod result;

pub use outbox::{EventSender, Item};
pub use result::RunResult;

pub(crate) use outbox::Outbox;
