//! Code mode for hosts: engines, sessions and sandboxes of the application, and the built-in engines used directly.

mod brokers;
mod engine;
mod functions;
mod sandboxes;
mod session;

pub(super) use brokers::Brokers;
pub(super) use engine::adopt;
pub use functions::{code_mode_catalog, code_mode_check, code_mode_instructions, code_mode_limits};
pub use session::HostProgramSession;
