//! The agent loop: ask the model, run its tools, until it answers.

mod builder;
mod invocation;
mod limits;
mod prepared;
mod selection;
mod tool_batch;

pub use builder::{Agent, AgentBuilder, AskOptions};
pub use limits::Limits;
pub use selection::ModelSelection;

pub(crate) use invocation::invoke;
pub(crate) use prepared::{PreparedAgent, ToolSet};
