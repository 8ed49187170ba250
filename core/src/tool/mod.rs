//! Tools: what a model may call, and what a call returns.

mod definition;
mod schema;

pub use definition::ToolDefinition;
